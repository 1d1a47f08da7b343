"""Class probabilities in, figures out: pure NumPy, SciPy and scikit-learn."""
