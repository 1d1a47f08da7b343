"""A person's picture to digits: opened, its ink found, cut into marks, brought to MNIST's form."""
