"""Figures of one epoch of a run: is it better, is it to be trusted, is it robust."""
