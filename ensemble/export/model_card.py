"""The README of what leaves: what the ensemble is, how good, and what not to use it for.

After M. Mitchell and others, "Model Cards for Model Reporting", FAT* 2019. Its figures and
sentences are those of the screens.
"""

from collections.abc import Iterator, Sequence

from ensemble.analysis.members.gain import gain_over_mean_member
from ensemble.architectures import format_network_title
from ensemble.export.export_format import PREPARATION, EnsembleContent
from ensemble.shift.corruptions import scale_corruptions
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import find_view
from ensemble.views.shift import describe_corruption_effect, read_shift_results
from ensemble.views.summary import summarize_view
from ensemble.wording import formats
from ensemble.wording.escaping import escape_markdown
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import ensemble_gain as words

MAX_LISTED_CLASSES = 100
_VIEWS_ANSWERED = ("agreement", "calibration", "confusion")


def write_model_card(content: EnsembleContent, by_numpy: bool) -> str:
    return "\n\n".join(_iterate_sections(content, by_numpy)) + "\n"


def _iterate_sections(content: EnsembleContent, by_numpy: bool) -> Iterator[str]:
    """Its paragraphs, tables and blocks of code."""
    run, noun = content.run, content.run.data.noun
    dataset = escape_markdown(content.test.dataset_entry.title)
    network = format_network_title(str(content.config.network))
    members = formats.format_count(content.members, "network")
    yield f"# {dataset}: an ensemble of {members}"
    yield (
        f"{network}, {content.members} times, each trained for {content.epoch} "
        f"{'epoch' if content.epoch == 1 else 'epochs'} from a start of its own. The answer is the "
        f"mean of their probabilities; how far they differ says what they do not know."
    )
    yield "## Use"
    needs = "NumPy" if by_numpy else "NumPy, JAX and Flax"
    yield f"Python 3.11 or later with {needs} is enough; requirements.txt has the versions."
    yield "```bash\npip install -r requirements.txt\npython predict.py images.npy\n```"
    height, width, channels = run.data.image_shape
    colour = "grey" if channels == 1 else "red, green and blue"
    yield (
        f"`images.npy` is an array (N, {height}, {width}, {channels}) from 0 to 255, or of floats from 0 to 1, "
        f"{colour}. `predict.py` prepares it as the training images: {PREPARATION}; it refuses any other range. "
        "Each line shows the class, its probability and how many members vote for it. "
        "`--out answers.npy` writes every member's probabilities, (members, N, classes)."
    )
    yield "## Data"
    yield (
        f"{dataset}: {len(content.test.labels):,} test {pluralize_noun(noun)}, which no member has "
        f"learnt from. {len(content.test.class_names):,} classes: "
        f"{_list_class_names(content.test.class_names)}."
    )
    yield "## How good it is"
    yield from _iterate_figures(content)
    yield "## What not to use it for"
    yield from _iterate_weaknesses(content)


def _list_class_names(names: Sequence[str]) -> str:
    listed = ", ".join(escape_markdown(name) for name in names[:MAX_LISTED_CLASSES])
    more = len(names) - MAX_LISTED_CLASSES
    return f"{listed} and {more:,} more" if more > 0 else listed


def _iterate_figures(content: EnsembleContent) -> Iterator[str]:
    quality = content.quality
    if quality is None:
        yield "The run wrote nothing down of this epoch."
        return
    percent = formats.format_percent(quality.accuracy, quality.n)
    places = formats.count_percent_decimals(quality.n)
    between = formats.format_percent_range(quality.low, quality.high, places)
    rows = [
        ("accuracy", f"{percent} (95 %: {between}) of {quality.n:,}"),
        ("NLL", f"{formats.format_significant(quality.nll)} nats"),
        ("Brier score", formats.format_significant(quality.brier)),
        ("ECE", formats.format_significant(quality.ece)),
    ]
    epoch = evaluate_epoch(content.run, content.epoch)
    if content.members > 1:
        gain = gain_over_mean_member(epoch.predictions)
        gained = formats.format_image_difference(gain.digits, content.run.data.noun)
        rows.append(("gain over a member alone", f"{gained} {words.format_gain_interval(gain)}"))
    table = [f"| {name} | {value} |" for name, value in rows]
    yield "\n".join(["| on the test images | |", "| --- | --- |", *table])
    for name in _VIEWS_ANSWERED:
        summary = summarize_view(find_view(name), epoch, {})
        if summary.available and summary.answer:
            yield f"**{summary.view.title}.** {escape_markdown(summary.answer)}"


def _iterate_weaknesses(content: EnsembleContent) -> Iterator[str]:
    noun = content.run.data.noun
    yield (
        "It answers every image with one of its classes, also one that shows none of them. Its "
        "figures hold for images like those of the test set, prepared alike: of others nobody has "
        "measured it, but for what stands below. Let no decision about a person rest on it alone."
    )
    results = None
    if content.recorded is not None:
        results = read_shift_results(evaluate_epoch(content.run, content.epoch))
    if results is None:
        yield (
            "Under shift (rotated, shifted, noisy, blurred or paler images) and on images of no "
            "class it has not been measured."
        )
        return
    kinds = scale_corruptions((results.side, results.side))
    for name, kind in kinds.items():
        curve = results.list_corruption_steps(name)
        if len(curve) > 1:
            effect = describe_corruption_effect(curve, kind, results.images, noun)
            yield f"**{kind.title}.** {effect}"
    if results.ood:
        rows = [
            f"| {escape_markdown(found['title'])} | {found['measures']['entropy']['auroc']:.3f} |"
            for found in results.ood
        ]
        head = "| images of no class | AUROC by the ensemble's entropy |"
        yield "\n".join([head, "| --- | --- |", *rows])
