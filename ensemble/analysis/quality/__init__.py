"""How good probabilities are: averaging, scores, calibration, intervals, selection, OOD."""
