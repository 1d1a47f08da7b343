"""Figures of ensembles that predict numbers."""
