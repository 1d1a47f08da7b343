"""Compare: several runs beside each other: curves, a table, settings against figures, a plan."""
