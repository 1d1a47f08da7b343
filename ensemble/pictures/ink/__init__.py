"""Ink: which pixels a pen has left, on any paper in any light."""
