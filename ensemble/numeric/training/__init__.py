"""Training a run that predicts numbers: its launch, worker, checkpoints and parameters."""
