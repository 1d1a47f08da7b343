"""Numbers and sentences: the same figure reads the same on every screen."""
