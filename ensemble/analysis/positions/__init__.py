"""Where members stand to each other: a map of their answers, groups of them, and diversity."""
