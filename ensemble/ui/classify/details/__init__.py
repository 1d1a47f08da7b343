"""Details of an open mark, one at a time."""
