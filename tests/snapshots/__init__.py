"""What views, pages and commands show of a few drawn runs, kept as text: a change of any of it is seen in a diff."""
