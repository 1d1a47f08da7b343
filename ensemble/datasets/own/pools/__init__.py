"""Images without labels, kept beside the datasets until somebody has said what they are.

from ensemble.datasets.own.pools import label_pool, pool_batches, pool_labels, extended_dataset
pool = label_pool.add_label_pool("attic", Path("pictures"), "leaves")
pool_batches.append_batch(pool, batch)            what is to be labelled next, in either arm
pool_labels.open_pool_log(pool).append_decision(…)       what a person says it is
extended_dataset.extend_dataset(pool, labels)     a new version of leaves with these images
"""
