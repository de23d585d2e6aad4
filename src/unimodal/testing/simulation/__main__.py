"""`python -m unimodal.testing.simulation`."""

import sys

from unimodal.testing.simulation.command import main

if __name__ == "__main__":
    sys.exit(main())
