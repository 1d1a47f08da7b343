"""Digits as masks, for tests of how ink is cut and joined."""

import numpy as np
import pytest
from PIL import Image

from ensemble import datasets


@pytest.fixture(scope="module")
def digits():
    """Test digits of `digits`, as masks about 150 pixels high, with their labels."""
    found = datasets.load_dataset("digits")
    masks = []
    for image in found.test_images[:70, :, :, 0]:
        large = np.asarray(Image.fromarray(image).resize((224, 224), Image.Resampling.BICUBIC)) > 127
        rows, columns = np.flatnonzero(large.any(1)), np.flatnonzero(large.any(0))
        masks.append(large[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])
    return masks, found.test_labels[:70]
