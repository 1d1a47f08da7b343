"""What the page says of an image by the members' logits is what the program says by the same.

A report and Classify compute in JavaScript what Python computes elsewhere: averages, prediction
sets, rejection, agreement and numbers in words. All drawn cases go through one page in one call.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page
from scipy.special import softmax

from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality.conformal import METHODS, ConformalThreshold
from ensemble.recognition.class_subspaces import compute_free_energy
from ensemble.recognition.picture_reading import Digit
from ensemble.report.page_assets import read_static_file
from ensemble.views.conformal import explain_unsure_set, format_image_set
from ensemble.wording import marks
from ensemble.wording.formats import format_probability

CASES = 500
SHOW_ALL = """(cases) => {
  SCRIPT
  return cases.map(({ run, logits }) => {
    const elements = {};
    const find = (name) => (elements[name] ??= document.createElement(name === "seen" ? "canvas" : "div"));
    const answer = createMemberAnswer(find);
    answer.chooseRun(run);
    answer.show({ kind: "answered", logits: Float64Array.from(logits), images: new Uint8Array(1) });
    const share = (bar) => Number(bar.style.getPropertyValue("--share"));
    const rows = [...find("classes").children];
    const figures = [...find("members").children];
    return {
      texts: ["answer", "votes", "set", "note"].map((name) => find(name).textContent),
      names: rows.filter((cell) => cell.matches("span")).map((cell) => cell.textContent),
      shares: rows.filter((cell) => cell.matches("i")).map(share),
      percents: rows.filter((cell) => cell.matches("b")).map((cell) => cell.textContent),
      marked: rows.filter((cell) => cell.matches("span.most")).map((cell) => cell.textContent),
      labels: figures.map((figure) => figure.getAttribute("aria-label")),
      bars: figures.map((figure) => [...figure.querySelectorAll("i")].map(share)),
    };
  });
}"""


@dataclass(frozen=True, eq=False)
class Case:
    """Logits (M, C) of one image, and what the page knows of the run."""

    logits: NDArray[np.float64]
    sets: ConformalThreshold
    measure: str
    rejection: float

    @property
    def names(self) -> list[str]:
        return [f"class {number}" for number in range(self.logits.shape[1])]

    def as_page_input(self) -> dict[str, Any]:
        members = len(self.logits)
        known = asdict(self.sets) | {"level": "95 %", "note": "Of sets."}
        run = {
            "members": list(range(members)),
            "member_names": [f"member {m + 1}" for m in range(members)],
            "hues": ["#123456"] * members,
            "class_names": self.names,
            "noun": "image",
            "shape": [1, 1, 1],
            "sets": known | ({} if self.sets.has_enough_examples else {"threshold": None}),
            "rejection": {
                "measure": self.measure,
                "threshold": self.rejection,
                "sentence": "Rejected",
                "note": "Of rejection.",
            },
        }
        return {"run": run, "logits": self.logits.ravel().tolist()}


def draw_case(number: int) -> Case:
    """A case whose members may be sure or not, alike or not, and whose classes may tie."""
    draw = np.random.default_rng(number)
    members, classes = int(draw.integers(1, 7)), int(draw.choice([2, 3, 5, 10, 12, 13, 40]))
    shared = draw.normal(0, draw.choice([0.3, 1.0, 3.0, 9.0]), classes)
    logits = shared + draw.normal(0, draw.choice([0.01, 0.5, 3.0]), (members, classes))
    if number % 5 == 0:
        logits = np.repeat(np.round(shared)[None], members, axis=0)  # some classes are equally likely
    averaged = softmax(logits, axis=1).mean(axis=0)
    measure = ("energy", "decision")[number % 2]
    score = compute_free_energy(logits[:, None])[0] if measure == "energy" else entropy(averaged)
    threshold = np.inf if number % 50 == 7 else draw.choice([draw.random(), 0.95 + 0.4 * draw.random()])
    sets = ConformalThreshold(
        METHODS[number % len(METHODS)],
        0.05,
        float(threshold),
        100,
        penalty=float(draw.choice([0.01, 0.1, 0.3])),
        free=int(draw.integers(0, 4)),
    )
    return Case(logits, sets, measure, float(score + draw.choice([-0.1, 0.01, 1.0, 5.0])))


@pytest.fixture(scope="module")
def shown(tab: Page) -> list[tuple[Case, dict[str, Any]]]:
    """Each case, and what the page shows of it."""
    tab.goto("about:blank")
    cases = [draw_case(number) for number in range(CASES)]
    script = SHOW_ALL.replace("SCRIPT", read_static_file("member_answer.js"))
    return list(zip(cases, tab.evaluate(script, [case.as_page_input() for case in cases]), strict=True))


def test_answers_sets_and_rejection_are_those_of_the_program(shown: list[tuple[Case, dict[str, Any]]]) -> None:
    rejections, other_ranks, sizes = 0, 0, []
    for case, page in shown:
        shares = softmax(case.logits, axis=1)
        averaged = shares.mean(axis=0)
        row = case.sets.build_sets(averaged[None])[0]
        sizes.append(int(row.sum()))
        generous = replace(case.sets, free=case.sets.free + 1)  # as if each class were a rank higher
        score = compute_free_energy(case.logits[:, None])[0] if case.measure == "energy" else entropy(averaged)
        best = int(averaged.argmax())
        verdict = f"{case.names[best]} with {format_probability(averaged[best])}"
        listed = f"Short list: {format_image_set(row, case.sets.error_rate, case.names)}."
        says = [f"{verdict}.", " ".join(filter(None, [listed, explain_unsure_set(row, averaged)])), "Of sets."]
        if score > case.rejection:
            rejections += 1
            says = ["Rejected.", f"The likeliest is {verdict}.", "Of rejection."]
        elif (generous.build_sets(averaged[None])[0] != row).any():
            other_ranks += 1
        answer, votes, shown_set, note = page["texts"]
        assert [answer, shown_set, note] == says, case
        mark = Digit(best, averaged, shares, shares.argmax(axis=1), 0.0, score, case.rejection, 0.5, False, "")
        assert votes == marks.describe_mark_agreement(mark, case.names), case
    assert CASES / 10 < rejections < CASES / 2
    assert len(set(sizes)) > 8
    assert other_ranks > 20, "the cases show a penalty by another rank"


def test_bars_and_captions_are_the_members_and_their_mean(shown: list[tuple[Case, dict[str, Any]]]) -> None:
    for case, page in shown:
        shares = softmax(case.logits, axis=1)
        averaged = shares.mean(axis=0)
        classes = len(averaged)
        order = list(range(classes)) if classes <= 12 else np.argsort(-averaged, kind="stable")[:10].tolist()
        assert page["names"] == [case.names[c] for c in order], case
        assert page["marked"] == [case.names[int(averaged.argmax())]]
        assert page["percents"] == [format_probability(averaged[c]) for c in order]
        np.testing.assert_allclose(page["shares"], averaged[order], atol=5.1e-5)
        if len(shares) == 1:
            assert page["labels"] == []
            continue
        np.testing.assert_allclose(page["bars"], shares[:, order], atol=5.1e-5)
        assert page["labels"] == [
            f"Member member {m + 1} says {case.names[vote]} with {format_probability(shares[m, vote])}"
            for m, vote in enumerate(shares.argmax(axis=1))
        ]
