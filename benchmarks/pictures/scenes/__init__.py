"""Whole pictures of digits that are no sheet before a camera: canvases of programs, and forms."""
