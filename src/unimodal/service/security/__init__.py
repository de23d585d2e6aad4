"""Who may do what: tokens, sessions, rates, and where a service without tokens answers."""
