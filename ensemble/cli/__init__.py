"""What the command line is made of: options from settings, and a line of progress."""
