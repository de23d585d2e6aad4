"""What people look at: tables, figures, progress. It knows arrays, not results."""
