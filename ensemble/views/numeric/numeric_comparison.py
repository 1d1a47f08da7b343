"""Two runs that predict the same numbers, against each other."""

import numpy as np
import pandas as pd

from ensemble.analysis.numeric.numeric_comparison import NumericComparison, compare_numeric_ensembles
from ensemble.errors import RunError
from ensemble.runs.store import Run
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.parts import Paragraph, Table, View
from ensemble.wording import formats
from ensemble.wording import numeric_predictions as words
from ensemble.wording.formats import format_significant
from ensemble.wording.run_names import format_run_name


def compare_evaluated_numbers(numbers: EvaluatedNumbers, other: EvaluatedNumbers) -> NumericComparison:
    """Both on the same examples; those of the other brought into this one's order by their names.

    Raises:
      RunError: they are not of the same examples.
    """
    predicted, targets = other.predicted, other.targets
    named = numbers.named_examples and other.named_examples
    if named and list(other.named_examples) != list(numbers.named_examples):
        places = {name: place for place, name in enumerate(other.named_examples)}
        unique = len(places) == len(other.named_examples)
        if unique and set(numbers.named_examples) == set(places):
            order = np.array([places[name] for name in numbers.named_examples])
            predicted, targets = predicted.select_examples(order), targets[order]
    if not np.array_equal(numbers.targets, targets):
        raise RunError(
            f"{_describe_run(other.run)} is not of the same examples as "
            f"{_describe_run(numbers.run)}: compare runs whose targets are the same."
        )
    both = (numbers.run, other.run)
    return compare_numeric_ensembles(
        numbers.predicted,
        predicted,
        numbers.targets,
        numbers.groups,
        are_members_independent=all(run is not None and run.settings is not None for run in both),
    )


def have_same_settings(first: Run | None, second: Run | None) -> bool:
    settings = [{**run.settings.as_dict(), "seed": 0} for run in (first, second) if run and run.settings]
    return len(settings) == 2 and settings[0] == settings[1]


def list_comparison_sentences(comparison: NumericComparison, run: Run | None, other: Run | None) -> list[str]:
    """List the answer about a run against another, and what it rests on; each a sentence."""
    name, same = _describe_run(other), have_same_settings(run, other)
    answer = words.describe_numeric_comparison(comparison, name, has_same_settings=same)
    return [f"{answer}.", *words.list_comparison_evidence(comparison, name)]


def _describe_run(run: Run | None) -> str:
    return f"“{format_run_name(run)}”" if run else "what was given"


def build_numeric_comparison(numbers: EvaluatedNumbers, other: EvaluatedNumbers) -> View:
    """Describe how far their errors differ, and tabulate the losses of both."""
    try:
        comparison = compare_evaluated_numbers(numbers, other)
    except RunError as error:
        yield Paragraph(str(error), "unavailable")
        return
    answer, *evidence = list_comparison_sentences(comparison, numbers.run, other.run)
    yield Paragraph(answer, "answer")
    examples = formats.format_count(comparison.examples, "example")
    for sentence in (*evidence, f"Paired, example by example, on {examples}."):
        yield Paragraph(sentence, "evidence")
    yield Table(
        f"Against {_describe_run(other.run)}",
        tabulate_comparison(comparison),
        note="This run minus the other, with the 95 % interval of each row. p is adjusted for all "
        "rows. A lower loss is better.",
        key="numeric_comparison",
    )


def tabulate_comparison(comparison: NumericComparison) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "loss": words.METRIC_NAMES[each.metric],
                "this run": format_significant(each.first),
                "the other": format_significant(each.second),
                "difference": format_significant(each.difference),
                "from": format_significant(each.low),
                "to": format_significant(each.high),
                "p, adjusted": format_significant(each.adjusted_p),
            }
            for each in comparison.differences
        ]
    )
