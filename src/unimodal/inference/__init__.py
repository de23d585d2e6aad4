"""What rewards so far say: bounds on means, second peaks, what other policies would have earned."""
