"""Ink to marks: pieces joined, neighbours not, clutter left out, in order."""

import numpy as np
import pytest

from ensemble.pictures.ink.extraction import Ink
from ensemble.pictures.segmentation.clutter import exclude_clutter
from ensemble.pictures.segmentation.components import find_connected_components
from ensemble.pictures.segmentation.marks import MAX_MARKS, _soften_edges, find_marks
from ensemble.pictures.segmentation.reading_order import determine_reading_order, estimate_line_slope

STROKE = 12.0


def ink_of(mask, offset=(0, 0)):
    even = mask.astype(np.float32)
    return Ink(1 - even, even, mask, False, 0.45, STROKE, 0, offset)


def sheet_of(*placed, size=(400, 900)):
    """A mask with each array of ink at its (x, y)."""
    mask = np.zeros(size, bool)
    for ink, x, y in placed:
        mask[y : y + ink.shape[0], x : x + ink.shape[1]] |= ink
    return mask


def bar(width, height):
    return np.ones((height, width), bool)


def boxes_of(mask):
    return [mark.box for mark in find_marks(ink_of(mask), 1.0)[0]]


@pytest.mark.parametrize(
    ("pieces", "count"),
    [
        # A 5 and its bar, above and set off to the right.
        ([(bar(60, 12), 130, 100), (bar(12, 50), 100, 122), (bar(60, 90), 100, 160)], 1),
        # The halves of an 8, with a crack between them.
        ([(bar(60, 70), 100, 100), (bar(70, 75), 95, 178)], 1),
        # A 4 whose second stroke does not touch the first.
        ([(bar(60, 80), 100, 100), (bar(12, 160), 170, 105)], 1),
        # A stroke broken in three by a pencil.
        ([(bar(12, 50), 100, 100), (bar(12, 50), 104, 156), (bar(12, 50), 108, 212)], 1),
        # Two short strokes of a broad pen.
        ([(bar(40, 12), 100, 100), (bar(40, 12), 100, 130)], 1),
        # Neighbours, close together.
        ([(bar(60, 150), 100, 100), (bar(60, 150), 170, 105), (bar(12, 150), 244, 98)], 3),
        # Dirt beside a digit, and a comma.
        ([(bar(60, 150), 100, 100), (bar(14, 14), 190, 110), (bar(12, 24), 180, 240)], 1),
        # A minus sign is left to the networks; it is no part of a digit.
        ([(bar(60, 14), 20, 170), (bar(60, 150), 130, 100)], 2),
        # Lines above each other.
        ([(bar(60, 120), 100, 20), (bar(60, 120), 100, 180), (bar(60, 120), 300, 100)], 3),
        # A dot that is all there is.
        ([(bar(14, 14), 100, 100)], 1),
        # What is underlined.
        ([(bar(60, 150), 100, 50), (bar(60, 150), 200, 50), (bar(220, 10), 70, 230)], 2),
    ],
)
def test_pieces_are_joined_and_neighbours_are_not(pieces, count):
    assert len(boxes_of(sheet_of(*pieces))) == count


def test_digits_of_any_hand_stay_whole_beside_each_other(digits):
    masks, _ = digits
    rows, x = [], 20
    for mask in masks[:8]:
        rows.append((mask, x, 200 - len(mask)))
        x += mask.shape[1] + 14
    found = boxes_of(sheet_of(*rows, size=(260, x + 20)))
    assert found == [(x, y, x + m.shape[1], y + len(m)) for m, x, y in rows]


@pytest.mark.parametrize("degrees", [-5, 0, 5])
def test_two_tilted_lines_are_read_one_after_the_other(degrees):
    draws = np.random.default_rng(3)
    slope, truth, boxes = np.tan(np.radians(degrees)), [], []
    for line in range(2):
        for place in range(9):
            x, height = 100 + 90 * place, draws.integers(55, 90)
            y = 200 + 130 * line + slope * x + draws.normal() * 5
            width = draws.integers(8, 60)
            boxes.append((x, int(y - height / 2), x + width, int(y + height / 2)))
            truth.append((line, place))
    shuffled = draws.permutation(len(boxes))
    order, lines = determine_reading_order(np.array(boxes)[shuffled])
    assert [truth[shuffled[k]] for k in order] == truth
    assert [lines[k] for k in order] == [0] * 9 + [1] * 9


@pytest.mark.parametrize("rise", [-30, 30])
def test_a_staircase_is_no_slope_of_writing(rise):
    boxes = np.array([(60 * k, 500 + rise * k, 60 * k + 40, 600 + rise * k) for k in range(6)])
    assert estimate_line_slope(boxes) == pytest.approx(np.sign(rise) * np.tan(np.radians(11)), abs=0.01)


def test_punched_holes_and_what_runs_out_of_the_picture_are_no_digits():
    digits = [(300 + 80 * k, 300, 350 + 80 * k, 400) for k in range(3)]
    holes = [(20, 40 + 60 * k, 46, 66 + 60 * k) for k in range(12)]
    pen = [(500, 400, 1000, 800)]
    kept, notes = exclude_clutter(np.array(digits + holes + pen), (1000, 800))
    assert kept.tolist() == [True] * 3 + [False] * 13
    assert len(notes) == 2
    kept, notes = exclude_clutter(np.array(pen), (1000, 800))
    assert kept.all()  # by itself it is the ensemble's question
    assert notes == ()


@pytest.mark.parametrize("box", [(0, 10, 40, 210), (960, 10, 1000, 210), (90, 0, 130, 200), (90, 600, 130, 800)])
def test_a_shape_cut_off_at_any_edge_is_left_out(box):
    digits = [(300 + 80 * k, 300, 350 + 80 * k, 400) for k in range(3)]
    kept, notes = exclude_clutter(np.array([*digits, box]), (1000, 800))
    assert kept.tolist() == [True, True, True, False]
    assert notes == ("Left out: 1 shape cut off by the edge of the picture.",)


@pytest.mark.parametrize(("inside", "frames"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_a_frame_is_what_goes_around_two_digits_or_more(inside, frames):
    # About as high as wide: with one digit in it, it may be a 0 with something in its loop.
    frame = (100, 100, 260, 260)
    within = [(115 + 45 * k, 130, 150 + 45 * k, 230) for k in range(inside)]
    beside = [(400, 130, 435, 230), (445, 130, 480, 230)]
    kept, notes = exclude_clutter(np.array([frame, *within, *beside]), (1000, 800))
    assert kept.tolist() == [not frames, *[True] * (inside + 2)]
    assert notes == ("Left out: 1 frame around others.",) * frames


def test_boxes_are_those_of_the_original():
    mask = sheet_of((bar(40, 100), 30, 50))
    (mark,), _ = find_marks(ink_of(mask, offset=(100, 200)), 2.5)
    assert mark.box == (325, 625, 425, 875)
    assert mark.image.max() == 255
    assert (mark.cut > 127).sum() == 4000


def test_no_ink_is_no_mark_and_a_note():
    marks, notes = find_marks(ink_of(np.zeros((50, 60), bool)), 1.0)
    assert marks == ()
    assert notes == ("No ink was found.",)


@pytest.mark.long
def test_marks_are_bounded():
    mask = np.zeros((560, 560), bool)
    draws = np.random.default_rng(4)
    heights = []
    for k in range(144):
        y, x = 10 + 44 * np.array(divmod(k, 12)) + draws.integers(0, 8, 2)
        heights.append(draws.integers(18, 30))
        mask[y : y + heights[-1], x : x + draws.integers(5, 18)] = True
    marks, notes = find_marks(ink_of(mask), 1.0)
    assert len(marks) == MAX_MARKS
    assert sorted(mark.box[3] - mark.box[1] for mark in marks) == sorted(heights)[-MAX_MARKS:]
    assert "144 marks" in notes[-1]


@pytest.mark.parametrize("share", [0.02, 0.4, 0.6, 0.95])
def test_components_are_those_that_labelling_every_pixel_gives(share):
    from scipy import ndimage

    mask = np.random.default_rng(1).random((40, 70)) < share
    labels, count = ndimage.label(mask, np.ones((3, 3)))
    boxes = [(x.start, y.start, x.stop, y.stop) for y, x in ndimage.find_objects(labels)]
    found = find_connected_components(mask, 1.0)
    assert sorted(map(tuple, found.boxes.tolist())) == sorted(boxes)
    painted = sum(found.paint_mask([k], (0, 0, 70, 40)).astype(int) for k in range(count))
    assert (painted == mask).all()


def test_a_softened_edge_is_half_covered_at_the_threshold_and_full_from_the_usual_darkness_on():
    """A row: paper, paper at the edge, six pixels of a digit, another digit's."""
    even = np.float32([[0.1, 0.1, 0.2, 0.4, 0.6, 0.8, 0.8, 0.9, 0.5]])
    own, ink = np.zeros((2, 1, 9), bool)
    own[:, 2:8] = ink[:, 2:] = True
    covered = _soften_edges(own, ink, even, 0.4)
    # 0.8 is the 0.7 quantile of the digit's own; outside half of the scale ends at the threshold.
    expected = [0, 127 * 0.1 / 0.4, 128, 128, 128 + 127 * 0.2 / 0.4, 255, 255, 255, 0]
    np.testing.assert_allclose(covered[0].astype(int), expected, atol=1)
