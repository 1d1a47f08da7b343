"""Views that lead to single examples: disputed ones, doubtful labels, where two members differ."""
