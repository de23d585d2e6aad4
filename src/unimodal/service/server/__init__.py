"""The server process: its socket, its connections and its log."""
