"""Datasets of a person's own."""
