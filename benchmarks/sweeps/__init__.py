"""What a sweep costs beside the training of its trials."""
