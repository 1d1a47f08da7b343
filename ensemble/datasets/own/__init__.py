"""A person's own datasets: images from a folder, an .npz, IDX files or TensorFlow Datasets.

    from ensemble.datasets.own import adding, opening, request, staging
    how, called = request.Preparation(size=32), request.Called("leaves", noun="leaf")
    report = adding.add(opening.source_of("~/pictures/leaves"), how, called)
    datasets.load("leaves")
    staging.remove("leaves")

Each lies in `own/NAME/` of the data folder: `train_images.npy`, `train_labels.npy` and the same of
`test`, read as memory maps, the same of `groups` where they are known, and `dataset.json`, written
last, which says what they are.

What reads pictures is imported by whoever adds some: the registry asks `entries` alone.
"""
