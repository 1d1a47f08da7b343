"""The screen Parallel."""
