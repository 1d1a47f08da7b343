"""Judges ensembles that predict numbers: each member a mean and a variance for every example."""
