"""All policies on all graph families: run, ranked, and shown on one page."""
