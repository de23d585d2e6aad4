"""Where campaigns are kept."""
