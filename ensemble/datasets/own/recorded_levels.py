"""What is black and white in a dataset, as its note keeps it for whoever brings another picture."""

from ensemble.datasets.own import custom_registry
from ensemble.files.image_levels import BYTE_LEVELS, Levels
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels


def serialize_levels(levels: PictureLevels) -> dict[str, list[float]]:
    """The levels by the kind of numbers, black and white of each; the ground is kept beside them.

    A kind is left out where the dataset has none of it, and 8 bits where they are as they are.
    """
    kept = {"deep": levels.deep, "fraction": levels.fraction}
    if levels.shallow != BYTE_LEVELS:
        kept["shallow"] = levels.shallow
    return {kind: list(each) for kind, each in kept.items() if each is not None}


def load_dataset_levels(name: str, fingerprint: str) -> PictureLevels:
    """What was taken as black and white when a dataset was added.

    Args:
      name: of any dataset.
      fingerprint: of the one that is meant.

    Returns:
      The standard, which goes by each picture itself, where that is not known.
    """
    note = custom_registry.read_custom_note(name)
    if note is None or note.fingerprint != fingerprint:
        return STANDARD_LEVELS
    levels = {kind: _parse_levels(pair) for kind, pair in note.levels.items()}
    return PictureLevels(levels.get("shallow") or BYTE_LEVELS, levels.get("deep"), levels.get("fraction"), note.ground)


def _parse_levels(pair: list[float]) -> Levels | None:
    """Black and white as they were kept; None where they are none."""
    return (pair[0], pair[1]) if len(pair) == 2 and pair[0] < pair[1] else None
