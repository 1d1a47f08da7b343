"""The images that the members dispute most, each with what is said of itself."""

import re

from ensemble.figures import thumbnails
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.examples.disputed import build_disputed
from ensemble.views.parts import Tiles
from tests.pages.ensembles import trained


def test_each_disputed_image_is_above_its_own_votes() -> None:
    epoch = evaluate_epoch(trained(sure=1.0))
    (shown,) = (part for part in build_disputed(epoch) if isinstance(part, Tiles))
    numbers = [int(match[1]) for tile in shown.tiles if (match := re.match(r"Test digit (\d+)\.", tile.alt))]
    assert len(numbers) == len(shown.tiles) > 1
    images = epoch.dataset.images
    assert images is not None
    assert shown.strip == thumbnails.encode_image_strip(images[numbers], shown.width)
    assert [tile.right for tile in shown.tiles] == epoch.predictions.right[numbers].tolist()
