"""Schedulers of clusters: what they are asked for, and how; knows nothing of runs."""
