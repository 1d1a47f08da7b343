"""The screen Classify."""
