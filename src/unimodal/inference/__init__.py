"""What sums of rewards say: bounds on means, tests of the peak, certificates, hills, changes."""
