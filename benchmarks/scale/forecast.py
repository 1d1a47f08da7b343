"""What a run of any size would take, from the coefficients: each row a formula, and its figures.

M members in G groups; N images to be tested on, in C = 10 classes; P MB of parameters a member;
E epochs of 21 lines of history. MB are millions of bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.scale.coefficients import CLASSES, FLOAT
from benchmarks.scale.written import LINES_OF_AN_EPOCH, parameter_bytes
from ensemble.runs.groups.coordinator import POLL_SECONDS
from ensemble.runs.parameters import MAX_BYTES

CHECKPOINT_SECONDS = 60  # a group saves about as often
KEPT = 3  # checkpoints: the last two and the best
Costs = Mapping[str, float]


@dataclass(frozen=True)
class Size:
    """A run.

    Attributes:
      title: of its column.
      groups, members: G and M.
      examples: N.
      epochs: E.
      parameters_mb: P.
    """

    title: str
    groups: int
    members: int
    examples: int = 10_000
    epochs: int = 100
    parameters_mb: float = parameter_bytes("cnn") / 1e6

    @property
    def predictions_mb(self) -> float:
        """M · N · C · 4 bytes."""
        return self.members * self.examples * CLASSES * FLOAT / 1e6

    @property
    def all_parameters_mb(self) -> float:
        """M · P."""
        return self.members * self.parameters_mb


SIZES = (
    Size("2 groups, 4 members", 2, 4),
    Size("32 groups, 64 members", 32, 64),
    Size("1,000 groups, 10,000 members", 1000, 10_000),
)


def merge_seconds(size: Size, costs: Costs) -> float:
    """Of a processor, for one epoch."""
    return (
        costs["merge_s"]
        + costs["merge_s_per_group"] * size.groups
        + costs["merge_s_per_mb_of_predictions"] * size.predictions_mb
        + costs["merge_s_per_mb_of_parameters"] * size.all_parameters_mb
    )


def merge_mb(size: Size, costs: Costs) -> float:
    """What the merger holds of an epoch at most."""
    return (
        costs["merge_mb"]
        + costs["merge_mb_per_mb_of_predictions"] * size.predictions_mb
        + costs["merge_mb_per_mb_of_a_groups_parameters"] * size.all_parameters_mb / size.groups
    )


def look_seconds(size: Size, costs: Costs) -> float:
    """Of a processor, for one look of the coordinator at groups that have nothing new."""
    return costs["look_s"] + costs["look_s_per_group"] * size.groups


def history_mb(size: Size, costs: Costs) -> float:
    """The run's history.jsonl at its end."""
    lines = size.epochs * (LINES_OF_AN_EPOCH + 1)
    return lines * (costs["line_bytes"] + costs["line_bytes_per_member"] * size.members) / 1e6


def entries(size: Size, costs: Costs) -> float:
    """Files and folders of all groups, and the run's predictions: one an epoch."""
    of_group = costs["entries_of_a_group"] + KEPT * costs["entries_of_a_checkpoint"]
    return size.groups * of_group + size.epochs


def kept_parameters_mb(size: Size, costs: Costs) -> float:
    """The run's parameters/: all that fit into a GiB; where one file is longer, three of them."""
    least = min(size.epochs, KEPT) * size.all_parameters_mb
    return max(least, min(size.epochs * size.all_parameters_mb, MAX_BYTES / 1e6))


Formula = Callable[[Size, Costs], float]
ROWS: tuple[tuple[str, str, Formula], ...] = (
    (
        "Start of all tasks with nothing compiled, as they begin at once",
        "processor min",
        lambda size, costs: size.groups * costs["start_cold_s"] / 60,
    ),
    (
        "Start of all tasks with everything compiled",
        "processor min",
        lambda size, costs: size.groups * costs["start_warm_s"] / 60,
    ),
    ("Files and folders at most", "", entries),
    (
        "Written by the groups for each epoch: predictions, parameters",
        "MB",
        lambda size, costs: size.predictions_mb + size.all_parameters_mb,
    ),
    (
        "Read and written by the merge of it: parameters are read twice",
        "MB",
        lambda size, costs: 2 * size.predictions_mb + 3 * size.all_parameters_mb,
    ),
    ("One checkpoint of every group", "MB", lambda size, costs: size.members * costs["checkpoint_mb_per_member"]),
    (
        "Storage, where each group saves once a minute",
        "MB/s",
        lambda size, costs: size.members * costs["checkpoint_mb_per_member"] / CHECKPOINT_SECONDS,
    ),
    (
        "Checkpoints that stay, three a group",
        "MB",
        lambda size, costs: KEPT * size.members * costs["checkpoint_mb_per_member"],
    ),
    ("Merge of an epoch", "processor s", merge_seconds),
    ("Memory of the merge", "MB", merge_mb),
    ("Predictions of 100 epochs", "MB", lambda size, costs: size.epochs * size.predictions_mb),
    ("Parameters that stay of 100 epochs", "MB", kept_parameters_mb),
    ("History of 100 epochs", "MB", history_mb),
    ("One look at all groups", "processor ms", lambda size, costs: 1e3 * look_seconds(size, costs)),
    ("Looks, of a processor", "%", lambda size, costs: 100 * share(look_seconds(size, costs))),
    (
        "Status files read by looks",
        "a second",
        lambda size, costs: size.groups / (POLL_SECONDS + look_seconds(size, costs)),
    ),
    ("Status files written by all tasks", "a second", lambda size, costs: costs["status_writes_per_s"] * size.groups),
)


def share(look: float) -> float:
    """Of a processor, that looks take which begin so long after the one before has ended."""
    return look / (look + POLL_SECONDS)


def said(value: float) -> str:
    """Two digits of a figure that matter, with thousands apart."""
    if value >= 100:
        digits = len(str(round(value)))
        return f"{round(value, 2 - digits):,.0f}"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.95 else f"{value:.1g}"


def table(costs: Costs) -> str:
    """The forecast, as Markdown."""
    rows = [
        ["", *(size.title for size in SIZES)],
        ["---"] * (1 + len(SIZES)),
        *(
            [f"{name}{f' ({unit})' if unit else ''}", *(said(formula(size, costs)) for size in SIZES)]
            for name, unit, formula in ROWS
        ),
    ]
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)


def coefficients(costs: Costs) -> str:
    """The coefficients that the table comes of, as Markdown."""
    rows = (
        (
            "Start of a task: nothing compiled; everything compiled",
            f"{costs['start_cold_s']:.1f} s; {costs['start_warm_s']:.1f} s",
        ),
        ("Memory of a task", f"{said(costs['task_mb'])} MB"),
        (
            "Merge of an epoch: by itself; for each group; for each 100 MB of predictions; of parameters",
            f"{1e3 * costs['merge_s']:.1f} ms; {1e3 * costs['merge_s_per_group']:.1f} ms; "
            f"{100 * costs['merge_s_per_mb_of_predictions']:.2f} s; "
            f"{100 * costs['merge_s_per_mb_of_parameters']:.2f} s",
        ),
        (
            "Memory of that: by itself; for each MB of predictions; for each MB of one group's parameters",
            f"{costs['merge_mb']:.1f} MB; {costs['merge_mb_per_mb_of_predictions']:.1f} MB; "
            f"{costs['merge_mb_per_mb_of_a_groups_parameters']:.1f} MB",
        ),
        (
            "Look at groups: by itself; for each",
            f"{1e3 * costs['look_s']:.1f} ms; {1e3 * costs['look_s_per_group']:.2f} ms",
        ),
        (
            "Checkpoint: MB a member; files and folders",
            f"{costs['checkpoint_mb_per_member']:.1f}; {costs['entries_of_a_checkpoint']:.0f}",
        ),
        (
            "Line of history: by itself; for each member",
            f"{costs['line_bytes']:.0f} bytes; {costs['line_bytes_per_member']:.0f} bytes",
        ),
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in (("what", "processor, memory, bytes"), ("---", "---"), *rows))
