"""Variables by which the worker of a group is told of the process that started it."""

# Set for a task that is to end with the process that started it: that one's number.
PARENT_VARIABLE = "ENSEMBLE_PARENT"
CORES_VARIABLE = "ENSEMBLE_CORES"  # which it may use, separated by commas
