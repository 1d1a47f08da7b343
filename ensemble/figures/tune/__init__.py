"""Figures of a sweep: how the search went, what each setting does, and what trades with what."""
