"""Archives of people: opened within bounds, and refused by the name of what is amiss."""
