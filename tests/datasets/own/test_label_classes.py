"""Every way to read labels as classes: by their names, by their positions, or counted from 1."""

import pytest

from ensemble.datasets.own.label_classes import Label, choose_class_reading, list_class_readings


@pytest.mark.parametrize(
    ("labels", "names", "readings"),
    [
        (["cat", "dog"], ["cat", "dog"], {"names": [0, 1]}),
        (["cat", "emu"], ["cat", "dog"], {}),
        (["1", "x"], ["01", "x"], {"names": [0, 1]}),
        (["1", "y"], ["01", "x"], {}),
        ([0, 1], ["cat", "dog"], {"positions": [0, 1]}),
        ([1, 2], ["cat", "dog"], {"from-1": [0, 1]}),
        ([0, 2], ["cat", "dog"], {}),
        (["0", "dog"], ["cat", "dog"], {}),
    ],
)
def test_a_reading_gives_every_label_a_class(
    labels: list[Label], names: list[str], readings: dict[str, list[int]]
) -> None:
    expected = {name: dict(zip(labels, places, strict=True)) for name, places in readings.items()}
    assert list_class_readings(labels, names) == expected


def test_names_that_are_numbers_differ_from_positions_if_one_of_them_does() -> None:
    for names, notes in ((["0", "2"], ["Labels were read as names of classes."]), (["0", "1"], [])):
        labels: list[Label] = list(names)
        chosen, said = choose_class_reading(list_class_readings(labels, names), names, "a.npz")
        assert list(chosen.values()) == [0, 1]
        assert said == notes
