"""What is said of runs: how they train, groups, networks, regressions, members that differ."""
