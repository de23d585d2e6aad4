"""Engines: the only homes of loops over rounds."""
