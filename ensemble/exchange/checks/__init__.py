"""What has to hold of predictions: their axes, numbers, labels, names, images and size."""
