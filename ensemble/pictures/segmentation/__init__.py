"""Ink to marks: connected components joined and cut, clutter left out, in reading order."""
