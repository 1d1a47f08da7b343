"""How good probabilities are: averaging, scores, calibration, selection, sets, OOD."""
