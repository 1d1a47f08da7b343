"""The screen Predictions."""
