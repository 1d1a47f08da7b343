"""Arrays on disk: .npz and .npy files that are checked before they are believed, and a cache."""
