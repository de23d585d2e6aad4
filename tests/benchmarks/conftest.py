"""The modules of benchmarks/ import each other, as they stand beside each other in one folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
