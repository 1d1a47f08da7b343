"""Data: which datasets there are, and how a person adds one of their own."""
