"""A person's own datasets: images from a folder, an .npz, IDX files or TensorFlow Datasets.

Each lies in `own/NAME/` of the data folder: `train_images.npy`, `train_labels.npy` and the same of
`test`, read as memory maps, and `dataset.json`, written last, which says what they are.
"""
