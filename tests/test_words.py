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

# The field's word, and what must not stand in its place. An underscore parts words: `_shelf`.
STRUCK = {
    "heartbeat, JobStatus": r"(?i)(?<![a-z])pulses?(?![a-z])",
    "FolderIndex": r"(?i)(?<![a-z])shel(f|ves)(?![a-z])",
    "JsonlTail": r"\bFollowed\b",
    "cached": r"(?<!\w)kept\(|\bimport (\w+, )*kept\b|\b_kept\b",
    "warm worker": r"(?i)(?<![a-z])(?<!ENSEMBLE_)spare(?![a-z])|standby",
    "non-digits": r"(?i)(?<![a-z])strangers?(?![a-z])",
    "OOD score, novelty": r"(?i)strangeness",
    "out-of-distribution": r"(?i)outsider|\boutside images?\b|images? from outside"
    r"|_outside\(|\.outside\b|(?-i:\bOUTSIDE\b)",
    "rejection threshold": r"(?i)(?<![a-z])gates?(?![a-z])",
    "rejected": r"(?i)\bturn(s|ed|ing)?[ _]away\b|(?-i:\bTurned\()|\bdeclin(e|es|ed)\b",
    "training loop": r"\bWay\b[:\]()]|\bWAYS\b|\bways to train\b",
    "competitor": r"(?i)contender|\bcontend\b",
    "run lengths": r"\bStretches\b|\bstretches(_of\b|\.)",
    "connected components": r"find_parts|\bParts\b[:\](]|\bconnected parts\b",
    "clutter": r"(?i)(?<![a-z])strays(?![a-z])",
    "materialized": r"\bsettled\(|`settled`",
    "improves calibration": r"\bmends (nearly|most|some)\b|\bmend(s|ed)\(|could mend\b",
    "well calibrated": r"as sure as it should be",
    "Confusion matrix": r"What is taken for what",
    "Aleatoric and epistemic": r"Two kinds of uncertainty",
    "Preprocessing, step by step": r"How it came to see it so",
    "Could not write to the disk": r"(?i)the disk said no",
}
# (file, what stands there): why it may.
ALLOWED = {
    ("ensemble/ui/classify/details/choice.py", "gate"): "the word in links of earlier versions",
    ("ensemble/ui/classify/answer/verdict.py", "gate"): "the same",
    ("tests/pages/test_classify.py", "gate"): "a test of such a link",
}


def named_in(text: str) -> list[tuple[str, str]]:
    """The field's word and the private one, for every private one in a text."""
    return [
        (word, match.group())
        for word, pattern in STRUCK.items()
        for match in re.finditer(pattern, text)
    ]


def sources() -> list[Path]:
    """Everything that is written here, but for what was recorded and this list of words."""
    every = [file for folder in FOLDERS for file in sorted((REPO / folder).rglob("*"))]
    return [
        file
        for file in [REPO / "README.md", REPO / "app.py", *every]
        if file.is_file() and file.suffix in SUFFIXES and "__pycache__" not in file.parts
        and "recorded" not in file.parts and file != Path(__file__).resolve()
    ]  # fmt: skip


def test_what_has_a_name_in_the_field_is_called_by_it() -> None:
    found, used = [], set()
    for file in sources():
        path = file.relative_to(REPO).as_posix()
        text = f"{path}\n{file.read_text('utf-8')}"
        if not named_in(text):  # As nearly always; line by line takes six times as long.
            continue
        for at, line in enumerate(text.splitlines()):
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
