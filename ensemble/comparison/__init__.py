"""What several runs come to beside each other: groups of runs, curves, a table, points."""
