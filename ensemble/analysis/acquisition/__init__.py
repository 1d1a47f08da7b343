"""Which images to label next, by what the members say of them, and whether choosing pays."""
