"""The screen Why: one disputed image, in five steps."""
