"""Long work on many settings, which can be stopped and continued."""
