"""The screen about an ensemble that predicts numbers."""
