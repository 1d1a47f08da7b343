"""Figures of a dataset's images: how many each class has, and a sheet of examples."""
