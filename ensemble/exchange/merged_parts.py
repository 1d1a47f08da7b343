"""What stands beside the outputs of several files: names, groups and images, which agree."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import number_groups
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails
from ensemble.errors import PredictionsError
from ensemble.exchange.checks import names
from ensemble.exchange.checks.axes import OutputAxes
from ensemble.exchange.files.file_predictions import NamedFilePredictions, name_file_in_errors


def number_first_groups(files: list[NamedFilePredictions], examples: int) -> NDArray[np.int64] | None:
    """The groups of the first file that has any, (N,) as numbers."""
    for file in files:
        groups = file.predictions.groups
        if groups is not None:
            if groups.shape != (examples,):
                raise PredictionsError(
                    f"{file.name}: its `groups` have shape {groups.shape}, and there are "
                    f"{examples:,} examples: give one for each."
                )
            if groups.dtype.kind == "f" and not np.isfinite(groups).all():
                place = int(np.argmin(np.isfinite(groups)))
                raise PredictionsError(
                    f"{file.name}: its `groups[{place}]` is {groups[place]}: give every example one."
                )
            return number_groups(groups).astype(np.int64)
    return None


def merge_class_names(files: list[NamedFilePredictions], classes: int) -> tuple[str, ...] | None:
    """What the files call their classes, all the same; None if none of them says."""
    first, class_names = "", None
    for file in files:
        if file.predictions.class_names is None:
            continue
        with name_file_in_errors(file.name):
            checked_names = names.check_name_count("class_names", file.predictions.class_names, classes, "classes")
        if class_names not in (None, checked_names):
            raise PredictionsError(
                f"{file.name}: its classes have other names, or another order, than in {first}: "
                "give every file the same."
            )
        first, class_names = file.name, checked_names
    return class_names


def merge_member_names(files: list[NamedFilePredictions], axes: list[OutputAxes]) -> tuple[str, ...]:
    """What the members of all files are called; without names as their files are."""
    member_names: list[str] = []
    for file, its in zip(files, axes, strict=True):
        members, text = its.shape[1], file.predictions.member_names
        if text:
            with name_file_in_errors(file.name):
                member_names += names.check_name_count("member_names", text, members, "members")
        elif len(files) == 1:
            member_names += names.generate_default_names(members, "member")
        else:
            stem = names.sanitize_name(Path(file.name).stem)[: names.MOST_LETTERS - 12] or "member"
            member_names += [stem] if members == 1 else names.generate_default_names(members, stem)
    return names.number_duplicate_names(member_names)


def load_first_images(files: list[NamedFilePredictions], examples: int) -> tuple[NDArray[np.uint8] | None, list[str]]:
    for file in files:
        if file.predictions.images is not None:
            with name_file_in_errors(file.name):
                return file.predictions.images(examples)
    return None, []


def find_first_details(files: list[NamedFilePredictions], examples: int) -> ExampleDetails:
    """What the first file that says it calls the examples, and says of them; PredictionsError."""
    for file in files:
        details = file.predictions.details
        every = {"example_names": details.names, **details.columns}
        for field, values in every.items():
            if values and len(values) != examples:
                raise PredictionsError(
                    f"{file.name}: its `{field:.60}` has {len(values):,} entries, and there are "
                    f"{examples:,} examples: give one for each, or leave it out."
                )
        if details:
            return details
    return NO_DETAILS
