"""Runs that predict numbers: their folder, their status, their predictions and targets."""
