"""Views on the members and what they are to each other."""
