"""The paper's evaluation: its experiments as data, its numbers as data, ours beside them."""
