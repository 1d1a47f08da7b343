"""Which images to label next, and whether choosing them pays: a random arm always beside it."""
