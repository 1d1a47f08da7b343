"""The test images that the members dispute most, in one picture, with the votes in text."""

from ensemble.analysis.predictions import chosen, ordered
from ensemble.figures import thumbnails
from ensemble.report.contents import Said, Section, Tile, Tiles
from ensemble.report.reading import Reported
from ensemble.wording import images

MOST = 24
ROOM = 84  # pixels of the screen that an image has
BELOW = (
    "Below each: what the ensemble says, with ✗ where it errs and then what it is; "
    "and the members' votes."
)


def section(of: Reported) -> Section:
    """The images whose votes are most divided, the most first."""
    numbers = ordered(of.made, chosen(of.made, "split"), "split")[:MOST]
    told = " ".join(images.in_two(of.made, of.noun))
    if not len(numbers):
        return Section("Most disputed", [Said(told)])
    tiles = of.dataset.tiles[numbers]
    width, height = thumbnails.on_screen(tiles.shape[1:], ROOM)
    each = [tile(of, int(number)) for number in numbers]
    return Section("Most disputed", [
        Said(told), Tiles(thumbnails.strip(tiles, ROOM), width, height, each),
        Said(BELOW, "note"),
    ], breaks=True)  # fmt: skip


def tile(of: Reported, number: int) -> Tile:
    """One image's words."""
    made, names = of.made, of.names
    votes = (
        [images.spoken_votes(made, number, names)]
        if images.listed(made, names)
        else images.short_votes(made, number, names)
    )
    return Tile(
        images.verdict(made, number, names), bool(made.right[number]), votes,
        f"Test {of.noun} {number}. {images.sentence(made, number, names)}",
    )  # fmt: skip
