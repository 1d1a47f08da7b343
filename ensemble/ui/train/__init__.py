"""The screen Train."""
