"""Whether the tests notice what breaks: places of the program are broken one at a time."""
