"""The campaigns of a service: which there are, which are open, and the calls that wait for them."""
