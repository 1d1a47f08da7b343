"""A person's own datasets: images from folders, arrays, tables or TensorFlow Datasets.

    from ensemble.datasets.own import dataset_builder, request, source_lookup, staging
    how, called = request.PreparationSettings(size=32), request.DatasetNaming("leaves")
    source = source_lookup.open_picture_source("~/pictures/leaves")
    report = dataset_builder.add_custom_dataset(source, how, called)
    datasets.load_dataset("leaves")
    staging.remove_custom_dataset("leaves")

Each lies in `own/NAME/` of the data folder: `train_images.npy`, `train_labels.npy` and the same of
`test`, read as memory maps, the same of `groups` where they are known, and `dataset.json`, written
last, which says what they are.

What reads pictures is imported by whoever adds some: the registry asks `custom_registry` alone.
"""
