"""The test images that the members dispute most, in one picture, with the votes in text."""

from ensemble.analysis.predictions import chosen, ordered
from ensemble.figures import thumbnails
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Paragraph, Tile, Tiles, View
from ensemble.wording import images

MOST = 24
ROOM = 84  # pixels of the screen that an image has
BELOW = (
    "Below each: what the ensemble says, with ✗ where it errs and then what it is; "
    "and the members' votes."
)


def build_disputed(epoch: EvaluatedEpoch) -> View:
    """The images whose votes are most divided, the most first."""
    predictions = epoch.predictions
    numbers = ordered(predictions, chosen(predictions, "split"), "split")[:MOST]
    yield Paragraph(" ".join(images.in_two(predictions, epoch.noun)))
    if not len(numbers):
        return
    tiles = epoch.dataset.tiles[numbers]
    width, height = thumbnails.on_screen(tiles.shape[1:], ROOM)
    each = [describe_image(epoch, int(number)) for number in numbers]
    yield Tiles(thumbnails.strip(tiles, ROOM), width, height, each)
    yield Paragraph(BELOW, "note")


def describe_image(epoch: EvaluatedEpoch, number: int) -> Tile:
    """One image's verdict and votes."""
    predictions, names = epoch.predictions, epoch.class_names
    votes = (
        [images.spoken_votes(predictions, number, names)]
        if images.listed(predictions, names)
        else images.short_votes(predictions, number, names)
    )
    return Tile(
        images.verdict(predictions, number, names),
        bool(predictions.right[number]),
        votes,
        f"Test {epoch.noun} {number}. {images.sentence(predictions, number, names)}",
    )
