"""The disk: atomic files, locks, JSON lines, cached arrays, and where the folders are."""
