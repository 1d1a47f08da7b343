"""The words of the field: what has a name that an engineer would search for is called by it.

Private words that stood for such terms once must not come back, as names, in sentences or on the
screens. Ordinary English is free: "kept" as a verb, "a way to", "outside the picture".
"""

import re
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
FOLDERS = ("ensemble", "pages", "tests", "benchmarks", "docs", "scripts")
SUFFIXES = {".py", ".md", ".js", ".css", ""}

# The field's word, and what must not stand in its place, each after letters that are in every such
# line, in whatever case: by these most lines are left out, and the patterns are tried on the rest.
# An underscore parts words: `_shelf`.
STRUCK = {
    "heartbeat, JobStatus": {"pulse": r"(?i)(?<![a-z])pulses?(?![a-z])"},
    "FolderIndex": {"shelf": r"(?i)(?<![a-z])shelf(?![a-z])", "shelves": r"(?i)(?<![a-z])shelves(?![a-z])"},
    "JsonlTail": {"followed": r"\bFollowed\b"},
    "cached": {"kept": r"(?<!\w)kept\(|\bimport (\w+, )*kept\b|\b_kept\b"},
    "warm worker": {"spare": r"(?i)(?<![a-z])(?<!ENSEMBLE_)spare(?![a-z])", "standby": r"(?i)standby"},
    "non-digits": {"stranger": r"(?i)(?<![a-z])strangers?(?![a-z])"},
    "OOD score, novelty": {"strangeness": r"(?i)strangeness"},
    "out-of-distribution": {
        "outsider": r"(?i)outsider",
        "outside image": r"(?i)\boutside images?\b",
        "from outside": r"(?i)images? from outside",
        "outside": r"(?i)_outside\(|\.outside\b|(?-i:\bOUTSIDE\b)",
    },
    "rejection threshold": {"gate": r"(?i)(?<![a-z])gates?(?![a-z])"},
    "rejected": {
        "away": r"(?i)\bturn(s|ed|ing)?[ _]away\b",
        "turned(": r"\bTurned\(",
        "declin": r"(?i)\bdeclin(e|es|ed)\b",
    },
    "training loop": {"way": r"\bWay\b[:\]()]|\bWAYS\b", "ways to train": r"\bways to train\b"},
    "competitor": {"contend": r"(?i)contender|\bcontend\b"},
    "run lengths": {"stretches": r"\bStretches\b|\bstretches(_of\b|\.)"},
    "connected components": {"find_parts": r"find_parts", "parts": r"\bParts\b[:\](]|\bconnected parts\b"},
    "clutter": {"strays": r"(?i)(?<![a-z])strays(?![a-z])"},
    "materialized": {"settled": r"\bsettled\(|`settled`"},
    "improves calibration": {"mend": r"\bmends (nearly|most|some)\b|\bmend(s|ed)\(|could mend\b"},
    "well calibrated": {"as sure as": r"as sure as it should be"},
    "Confusion matrix": {"taken for what": r"What is taken for what"},
    "Aleatoric and epistemic": {"two kinds": r"Two kinds of uncertainty"},
    "Preprocessing, step by step": {"how it came": r"How it came to see it so"},
    "Could not write to the disk": {"disk said": r"(?i)the disk said no"},
}
# (file, what stands there): why it may.
ALLOWED = {
    ("ensemble/ui/classify/details/detail_selection.py", "gate"): "the word in links of earlier versions",
    ("ensemble/ui/classify/answer/verdict.py", "gate"): "the same",
    ("tests/pages/test_classify.py", "gate"): "a test of such a link",
}


def named_in(line: str) -> list[tuple[str, str]]:
    """The field's word and the private one, for every private one in a line."""
    small = line.lower()
    return [
        (word, match.group())
        for word, patterns in STRUCK.items()
        for letters, pattern in patterns.items()
        if letters in small
        for match in re.finditer(pattern, line)
    ]


def lines_to_look_at(text: str) -> list[tuple[int, str]]:
    """The lines of a text, with their numbers, that may have a private word in them."""
    small = text.lower()
    lines, found = text.split("\n"), set[int]()
    for letters in {letters for patterns in STRUCK.values() for letters in patterns}:
        at = small.find(letters)
        while at >= 0:
            found.add(small.count("\n", 0, at))
            at = small.find(letters, at + 1)
    return [(number, lines[number]) for number in sorted(found)]


def sources() -> list[Path]:
    """Everything that is written here, but for what was recorded and this list of words."""
    every = [file for folder in FOLDERS for file in sorted((REPO / folder).rglob("*"))]
    return [
        file
        for file in [REPO / "README.md", REPO / "CONTRIBUTING.md", REPO / "app.py", *every]
        if file.is_file()
        and file.suffix in SUFFIXES
        and "__pycache__" not in file.parts
        and "recorded" not in file.parts
        and file != Path(__file__).resolve()
    ]


def test_what_has_a_name_in_the_field_is_called_by_it() -> None:
    found, used = [], set()
    for file in sources():
        path = file.relative_to(REPO).as_posix()
        text = f"{path}\n{file.read_text('utf-8')}"
        for at, line in lines_to_look_at(text):
            for word, private in named_in(line):
                if (path, private) in ALLOWED:
                    used.add((path, private))
                else:
                    found.append(f"{path}:{at}: {private!r}, which is {word}")
    assert found == []
    assert used == set(ALLOWED), "these exceptions are no longer needed"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("from ensemble.jobs.pulse import Pulse", "heartbeat, JobStatus"),
        ("_shelf = Shelf(find)", "FolderIndex"),
        ("def kept(name: str) -> Arrays:", "cached"),
        ("spare.keep_ready(environment)", "warm worker"),
        ("test_strangers_are_seen", "non-digits"),
        ("return results.outside", "out-of-distribution"),
        ("for one in outsiders(name):", "out-of-distribution"),
        ("OUTSIDE = 2", "out-of-distribution"),
        ("def test_the_gate_opens() -> None:", "rejection threshold"),
        ("5 % are turned away", "rejected"),
        ("def described(contender: Way) -> None:", "training loop"),
        ("CONTENDERS = ()", "competitor"),
        ("v = settled(combined(B2))", "materialized"),
        ("BOOKSHELF.shelves", "FolderIndex"),
        ("class Followed(Tail):", "JsonlTail"),
        ("a Standby process", "warm worker"),
        ("its Strangeness", "OOD score, novelty"),
        ("Images from outside", "out-of-distribution"),
        ("draw_outside(image)", "out-of-distribution"),
        ("an outside image", "out-of-distribution"),
        ("it declined to say", "rejected"),
        ("Turned(image)", "rejected"),
        ("several ways to train", "training loop"),
        ("FASTEST_OF = WAYS", "training loop"),
        ("runs.stretches_of(row)", "run lengths"),
        ("find_parts(picture)", "connected components"),
        ("connected parts", "connected components"),
        ("no strays", "clutter"),
        ("temperature mends most of it", "improves calibration"),
        ("It is as sure as it should be.", "well calibrated"),
        ("What is taken for what", "Confusion matrix"),
        ("Two kinds of uncertainty", "Aleatoric and epistemic"),
        ("How it came to see it so", "Preprocessing, step by step"),
        ("The disk said no.", "Could not write to the disk"),
    ],
)
def test_a_private_word_is_found(line: str, word: str) -> None:
    assert word in [one for one, _ in named_in(line)]


@pytest.mark.parametrize(
    "line",
    [
        "What was learnt is kept: resume it (or launch anew).",
        "a way to train many networks at once, half-way",
        "what lies outside the picture is dimmed; a label is outside the 10 classes",
        "turned by 30°, stretched and bent",
        'os.environ["ENSEMBLE_SPARE"]',
        "aggregate, propagate, delegate, navigate",
        "parts of a second count",
        "settled for good",
        'write_scores("outside-known.npz")',
    ],
)
def test_ordinary_english_and_what_is_on_disk_are_free(line: str) -> None:
    assert named_in(line) == []
