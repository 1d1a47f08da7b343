"""The screen Inspect."""
