"""Arrays of pictures by their names: NumPy's, IDX, CIFAR, MATLAB."""
