"""How surely a figure is known: intervals, and tests of one or of several differences."""
