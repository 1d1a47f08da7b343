"""Checkpoints of a run: their folders, writing and restoring them, and the members in them."""
