"""What a line of a history.jsonl holds, by its kind: what pages and commands read of it.

A line whose fields are something else counts as torn. Fields that are not named here stay as they
are; a kind of line that is not named here need only say where it stands.
"""

from typing import Annotated, Any, NotRequired, TypedDict

from ensemble.storage.records.fields import Count, Figure, Seconds, Share, Speed, Within, checked

Line = dict[str, Any]
# Of each member; null where one is not finite.
Figures = list[Figure | None]
Shares = list[Share | None]
# A quotient of two of them is drawn: none took no time at all.
Took = Annotated[float, Within(1e-9, 1e9)]
Devices = Annotated[int, Within(1, 2**20)]


class Place(TypedDict):
    """Of any line."""

    kind: str
    step: Count
    epoch: NotRequired[Count]
    progress: NotRequired[Figure | None]


class Training(Place):
    """Of steps, and of an epoch: figures of the training images."""

    train_loss: NotRequired[Figures]
    train_accuracy: NotRequired[Shares]
    ensemble_train_loss: NotRequired[Figure | None]
    ensemble_train_nll: NotRequired[Figure | None]
    ensemble_train_accuracy: NotRequired[Share | None]
    seconds: NotRequired[Seconds | None]
    img_member_per_s: NotRequired[Speed | None]
    set_aside: NotRequired[list[Count]]  # members, from 0, that count in no mean


class Validating(TypedDict):
    """Of an epoch of a run that holds out training images, to choose by."""

    validation_loss: NotRequired[Figures]
    validation_accuracy: NotRequired[Shares]
    ensemble_validation_loss: NotRequired[Figure | None]
    ensemble_validation_nll: NotRequired[Figure | None]
    ensemble_validation_accuracy: NotRequired[Share | None]


class Testing(TypedDict):
    """Of an epoch, which closes with the whole test set."""

    epoch: Count
    train_loss: Figures
    test_loss: Figures
    test_accuracy: Shares
    ensemble_test_loss: NotRequired[Figure | None]
    ensemble_test_nll: NotRequired[Figure | None]
    ensemble_test_accuracy: NotRequired[Share | None]
    disagreement: NotRequired[Share | None]
    member_disagreement: NotRequired[Shares]


class Compiling(TypedDict):
    """Of a regression's solve: its beginning."""

    solve: str
    devices: Devices
    pmap: bool
    seconds: Seconds


class Iteration(TypedDict):
    """Of a regression's solve: one step."""

    solve: str
    objective: Figure | None
    error: Figure | None
    step_size: Figure | None
    evaluations: Figure | None
    seconds: Took


class End(TypedDict):
    """Of a regression's solve: all of its steps are done."""

    solve: str
    spread: NotRequired[Figure | None]


KINDS: dict[str, tuple[Any, ...]] = {
    "steps": (Training,),
    "epoch": (Training, Validating, Testing),
    "compile": (Place, Compiling),
    "iteration": (Place, Iteration),
    "end": (Place, End),
}
OF_MEMBERS = (
    "train_loss",
    "train_accuracy",
    "validation_loss",
    "validation_accuracy",
    "test_loss",
    "test_accuracy",
    "member_disagreement",
)


def is_whole(line: Any, members: int | None = None) -> bool:
    """Whether this is a line of a history, each field of which is what it should be.

    Args:
      line: what was read of JSON.
      members: M, where it is known: lists of members' figures have as many.
    """
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        return False
    try:
        for form in KINDS.get(line["kind"], (Place,)):
            checked(form, line, "line")
    except ValueError:
        return False
    widths = {len(line[name]) for name in OF_MEMBERS if isinstance(line.get(name), list)}
    return len(widths) < 2 and (members is None or widths <= {members}) and 0 not in widths
