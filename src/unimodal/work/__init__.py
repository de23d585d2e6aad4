"""Long work: cut into tasks, kept the moment each is done, found again after a stop."""
