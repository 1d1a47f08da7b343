"""The test images that the members dispute most, in one picture, with the votes in text."""

from ensemble.analysis.predictions import filter_examples, sort_examples
from ensemble.figures import thumbnails
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Paragraph, Tile, Tiles, View
from ensemble.views.registry import RegisteredView
from ensemble.wording import images

MAX_IMAGES = 24
_IMAGE_SIZE = 84  # pixels of the screen that an image has
_VOTES_NOTE = "Below each: what the ensemble says, with ✗ where it errs and then what it is; and the members' votes."


def build_disputed(epoch: EvaluatedEpoch) -> View:
    predictions = epoch.predictions
    numbers = sort_examples(predictions, filter_examples(predictions, "split"), "split")[:MAX_IMAGES]
    yield Paragraph(" ".join(images.split_disagreement_warning(predictions, epoch.noun)))
    if not len(numbers):
        return
    tiles = epoch.dataset.tiles[numbers]
    width, height = thumbnails.compute_display_size(tiles.shape[1:], _IMAGE_SIZE)
    each = [_build_verdict_tile(epoch, int(number)) for number in numbers]
    yield Tiles(thumbnails.encode_image_strip(tiles, _IMAGE_SIZE), width, height, each)
    yield Paragraph(_VOTES_NOTE, "note")


def _build_verdict_tile(epoch: EvaluatedEpoch, number: int) -> Tile:
    predictions, names = epoch.predictions, epoch.class_names
    votes = (
        [images.format_votes(predictions, number, names)]
        if images.can_list_votes(predictions, names)
        else images.format_vote_lines(predictions, number, names)
    )
    return Tile(
        images.format_image_verdict(predictions, number, names),
        bool(predictions.right[number]),
        votes,
        f"Test {epoch.noun} {number}. {images.describe_image_prediction(predictions, number, names)}",
    )


VIEW = RegisteredView(
    "disputed", "Most disputed", "Test images on which the members disagree most", build_disputed, place=30
)
