"""What a history says: second peaks, and what other policies would have earned."""
