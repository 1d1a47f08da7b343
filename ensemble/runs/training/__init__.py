"""Training a run: its worker, what the worker does, and where a run stands meanwhile."""
