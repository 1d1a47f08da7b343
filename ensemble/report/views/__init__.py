"""The views of Inspect that need no model, as sections of a report."""
