"""The screen Labels: labels in doubt one by one, what was decided, and what mending them did."""
