"""An ensemble that reads pictures: its answer, its rejection threshold, neighbours, occlusion."""
