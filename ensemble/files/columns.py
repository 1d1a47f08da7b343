"""What the columns of a table and the arrays of a file are called: one list of names for every reader.

The first name of each role is the one that is documented. Names are compared by `fold_name`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

ROLE_NAMES: dict[str, tuple[str, ...]] = {
    "example": ("example", "example_id", "id", "sample_id", "sample", "image_id", "uid", "case_id"),
    # These may name examples where there is none of those above and no name is there twice.
    "weak example": (
        *("filename", "file_name", "file", "filepath", "file_path", "path"),
        *("image", "image_path", "img", "name", "url", "index"),
    ),
    "member": ("member", "model", "member_id", "model_id", "network", "estimator", "learner"),
    # These tell members apart, alone or next to `member`, where each has all examples.
    "member part": (
        *("seed", "random_seed", "random_state", "fold", "cv_fold", "run", "run_id"),
        *("replicate", "repeat", "trial", "checkpoint"),
    ),
    "epoch": ("epoch",),
    "label": (
        *("label", "labels", "y_true", "target", "true_label", "ground_truth", "groundtruth", "true_class", "y_test"),
        *("class", "targets", "truth", "label_id", "gt", "y"),
    ),
    "split": ("split",),
    "group": ("group", "groups", "group_id", "writer_id", "patient_id", "video_id"),
    "prediction": (
        *("prediction", "predicted", "pred", "y_pred", "predicted_class", "predicted_label"),
        *("pred_class", "pred_label", "y_hat", "yhat"),
    ),
    "confidence": (
        *("confidence", "conf", "p_max", "prob_max", "max_p", "max_prob", "max_probability"),
        *("probability_max", "p_pred", "prob_pred", "predicted_probability"),
    ),
    # What members predict of a number, and how sure they are.
    "mean": ("mean", "means", "mu", "loc", "pred_mean", "y_mean", "y_pred_mean", "predicted_mean"),
    "std": (
        *("std", "stds", "stddev", "std_dev", "stdev", "sd", "sigma", "sigmas", "scale", "y_std", "pred_std"),
        *("y_pred_std", "prediction_std", "predicted_std", "predictive_std", "mean_std", "y_sigma", "pred_sigma"),
    ),
    "variance": ("variance", "variances", "var", "vars", "sigma2", "y_var", "pred_var", "y_pred_var", "pred_variance"),
    "log variance": ("log_var", "logvar", "log_variance", "logvariance", "log_sigma2"),
    "log std": ("log_std", "logstd", "log_sigma", "logsigma", "log_scale"),
    "samples": ("samples",),
    "quantiles": ("quantiles",),
    "levels": ("levels", "quantile_levels"),
    # Of tables about pictures.
    "picture": (
        *("file", "file_name", "filename", "filenames", "filepath", "filepaths", "file_path", "path", "paths"),
        *("image", "images", "image_name", "image_path", "image_file", "image_filename", "image_id", "imageid", "img"),
        *("img_name", "img_path", "img_id", "id", "id_code", "name"),
    ),
    "class": (
        *("class_name", "label_name", "label", "labels", "class", "classes", "category", "categories", "target"),
        *("ground_truth", "y", "class_label", "class_id", "classid", "label_id", "labelid", "targets", "species"),
        *("diagnosis", "dx", "fine_label", "labels_fine", "digit", "emotion", "symbol", "letter", "character"),
    ),
    "picture split": (
        *("split", "set", "data_set", "dataset", "subset", "usage", "partition", "phase", "mode", "stage"),
        *("data_split", "split_name", "train_test", "fold"),
    ),
    "training flag": ("is_train", "is_training", "is_training_image", "train", "training"),
    "validation flag": ("is_valid", "is_val", "is_validation", "valid", "val", "validation"),
    "test flag": ("is_test", "is_testing", "test", "testing"),
    "picture group": ("group", "groups", "patient_id", "video_id", "writer_id"),
}
# What folders and arrays of each split are called. Images for validation are learnt from.
SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
}
# A table's own numbers of its rows, of which nothing need be said.
ROW_NUMBERS = {"__index_level_0__", "unnamed: 0", ""}
_SPREADS = ("std", "variance", "log variance", "log std")
_POINTS = (*ROLE_NAMES["prediction"][:4], "predictions", "preds", "y_hat", "yhat", "forecast")
_TARGETS = (*ROLE_NAMES["label"], "actual", "actuals", "observed", "observation", "true", "true_value")
# The ensemble's own prediction, which is no member.
_ENSEMBLE_NAMES = {"ensemble", "ens", "average", "averaged", "avg", "mean", "combined", "mixture", "ensemble_mean"}
# Behind a name such as mean these make another quantity of it: mean_ci_lower is of no member.
_OTHER_QUANTITY = re.compile(
    r"(.*[_ ])?(se|sem|ci|lower|upper|low|high|lo|hi|std|sd|var|variance|error|err|abs|squared|residual|min|max|"
    r"median|iqr|diff|rank|pct|percent)([_ ].*)?"
)
_BOUND = re.compile(r"(.*[_ ])?(lower|upper|lo|hi|low|high|lb|ub|bound)([_ ].*)?")
# q0.05, quantile_0.05, 0.05: the level stands in the name; q05 and p95 have it in percent.
_LEVEL = re.compile(r"(?:(?:q|quantile)[_ ]?)?(0?\.\d{1,6})")
_PERCENT = re.compile(r"(?:q|p|quantile|percentile)[_ ]?(\d{2})")
_SAMPLE = re.compile(r"(?:sample|draw)[_ ]?(\d+)")
_MOST_LISTED = 8


@dataclass(frozen=True)
class NumberColumns:
    """Where in a file of predicted numbers what stands.

    Attributes:
      keys: the names of "target", "example", "member", "group", "split", "samples", "quantiles" and "levels", where
        there is one.
      means: the column of each member's predictions, by the member; "" of one without a name.
      spreads: by "std", "variance", "log variance" or "log std" the same of how sure each member is.
      quantiles: columns of quantiles, by their levels, ascending.
      samples: columns of samples, in their order.
      ensemble: columns of the ensemble's own prediction.
      bounds: columns of bounds whose level is not known.
      unused: other columns that nothing is made of.
    """

    keys: dict[str, str]
    means: dict[str, str]
    spreads: dict[str, dict[str, str]] = field(default_factory=dict)
    quantiles: dict[float, str] = field(default_factory=dict)
    samples: tuple[str, ...] = ()
    ensemble: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def find_spreads(self, member: str) -> dict[str, str]:
        """The columns that say how sure a member is, by what they are."""
        return {role: columns[member] for role, columns in self.spreads.items() if member in columns}

    @property
    def is_certain(self) -> bool:
        """Whether the names alone say that these are predicted numbers: not of a column called prediction."""
        if "target" not in self.keys:
            return False
        named = any(fold_name(column).startswith(ROLE_NAMES["mean"][:4]) for column in self.means.values())
        whole = "samples" in self.keys or {"quantiles", "levels"} <= self.keys.keys()
        return named or bool(self.means and self.spreads) or bool(self.quantiles or self.samples) or whole


def fold_name(name: str) -> str:
    """A name as it is compared."""
    return name.strip().casefold().replace("-", "_")


def find_role(role: str, names: Sequence[str]) -> str | None:
    """The column that has a role, by the role's names in their order; None without one."""
    folded = {fold_name(name): name for name in reversed(names)}
    return next((folded[known] for known in ROLE_NAMES[role] if known in folded), None)


def is_statistic_name(name: str) -> bool:
    """Whether a column is a number's mean or spread."""
    return any(fold_name(name) in ROLE_NAMES[role] for role in ("mean", "std", "variance", "log variance", "log std"))


def is_ensemble_name(member: str) -> bool:
    """Whether a member is called as the ensemble itself."""
    return fold_name(member) in _ENSEMBLE_NAMES


def list_unused_notes(names: Sequence[str] | Mapping[str, str], what: str = "column", file: str = "") -> list[str]:
    """Name the columns, arrays or files that were not used, in one sentence; in none if all were.

    Args:
      names: in their order, or each with the reason.
      what: "column", "array" or "file".
      file: the name of their file or folder, if several are read.
    """
    reasons = names if isinstance(names, Mapping) else {}
    each = [
        f"“{name:.40}”" + (f" ({reasons[name]})" if name in reasons else "")
        for name in names
        if name in reasons or fold_name(name) not in ROW_NUMBERS
    ]
    if not each:
        return []
    more = f" and {len(each) - _MOST_LISTED:,} more" if len(each) > _MOST_LISTED else ""
    of_file = f" of {file:.80}" if file else ""
    return [f"{what.capitalize()}s{of_file} that were not used: {', '.join(each[:_MOST_LISTED])}{more}."]


def parse_number_columns(names: Sequence[str]) -> NumberColumns:
    """What each column or array of a file of predicted numbers is, by its name."""
    left = dict[str, str]()
    for name in names:
        left.setdefault(fold_name(name), name)
    keys = dict[str, str]()
    for key, known in _KEY_NAMES.items():
        if found := next((name for name in known if name in left), None):
            keys[key] = left.pop(found)
    quantiles, samples = _match_levels(left), _match_samples(left)
    left = _leave_out(left, [*quantiles.values(), *samples])
    spreads = dict[str, dict[str, str]]()
    own = list[str]()  # columns of the ensemble itself
    for role in _SPREADS:
        members, others = _match_members(ROLE_NAMES[role], left)
        own += others
        left = _leave_out(left, [*members.values(), *others])
        if members:
            spreads[role] = members
    means, others = _match_members(ROLE_NAMES["mean"], left)
    points, other_points = _match_members(_POINTS, left)
    if not means or (len(means) == 1 and len(points) > 1):
        means, others = points, list(dict.fromkeys([*means.values(), *others, *other_points]))
        own += [column for found in spreads.values() for member, column in found.items() if member not in means]
        spreads = {role: kept for role, found in spreads.items() if (kept := _keep_members(found, means))}
    left = _leave_out(left, [*means.values(), *own, *others])
    rest = [column for name, column in left.items() if name not in ROW_NUMBERS]
    bounds = [column for column in rest if _BOUND.fullmatch(fold_name(column))]
    return NumberColumns(
        keys=keys,
        means=means,
        spreads=spreads,
        quantiles=quantiles,
        samples=samples,
        ensemble=(*others, *own),
        bounds=tuple(bounds),
        unused=tuple(column for column in rest if column not in bounds),
    )


_KEY_NAMES = {
    "target": _TARGETS,
    **{key: ROLE_NAMES[key] for key in ("example", "weak example", "group", "split", "samples", "quantiles", "levels")},
    "member": (*ROLE_NAMES["member"], "seed"),
}


def _keep_members(columns: Mapping[str, str], members: Collection[str]) -> dict[str, str]:
    return {member: column for member, column in columns.items() if member in members}


def _leave_out(columns: Mapping[str, str], taken: Collection[str]) -> dict[str, str]:
    return {name: column for name, column in columns.items() if column not in taken}


def _match_levels(columns: Mapping[str, str]) -> dict[float, str]:
    """Columns of quantiles by their levels, ascending; one alone is none."""
    levels = dict[float, str]()
    for name, column in columns.items():
        if match := _LEVEL.fullmatch(name):
            levels[float(match[1])] = column
        elif match := _PERCENT.fullmatch(name):
            levels[int(match[1]) / 100] = column
    named = {level: column for level, column in levels.items() if 0 < level < 1}
    is_level = len(named) > 1 or any(column.strip()[0].isalpha() for column in named.values())
    return dict(sorted(named.items())) if is_level else {}


def _match_samples(columns: Mapping[str, str]) -> tuple[str, ...]:
    numbered = {int(match[1]): column for name, column in columns.items() if (match := _SAMPLE.fullmatch(name))}
    return tuple(numbered[number] for number in sorted(numbered)) if len(numbered) > 1 else ()


def _match_members(aliases: Sequence[str], columns: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The column of each member by the member's name, "" of one without; and those of the ensemble itself.

    "mean_A" and "mean1" are of members, "mean_ci_lower" is not. Without a sign between only a number
    follows: a column "location" is no mean of a member.
    """
    exact = next((columns[alias] for alias in aliases if alias in columns), None)
    pattern = re.compile(rf"(?:{'|'.join(sorted(aliases, key=len, reverse=True))})(?:[_ ](.+)|(\d+))")
    members, ensemble = dict[str, str](), list[str]()
    for name, column in columns.items():
        match = pattern.fullmatch(name)
        word = (match[1] or match[2]) if match else ""
        if not word or name in aliases or _OTHER_QUANTITY.fullmatch(word):
            continue
        if is_ensemble_name(word):
            ensemble.append(column)
        else:
            members[column.strip()[len(column.strip()) - len(word) :]] = column
    if exact is None:
        return members, ensemble
    if len(members) > 1:
        return members, [exact, *ensemble]
    return {"": exact}, ensemble
