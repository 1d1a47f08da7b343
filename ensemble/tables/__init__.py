"""Tables of numbers to predict: which columns are learnt from, how they are encoded and split."""
