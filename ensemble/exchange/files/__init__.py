"""Files of predictions as people have them: .npz, CSV and Parquet, each read to one `Part`."""
