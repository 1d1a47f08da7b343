"""CONTRIBUTING.md names what is there, and its worked examples add what they are meant to add."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parent.parent
GUIDE, EXAMPLES = REPO / "CONTRIBUTING.md", REPO / "docs" / "examples.md"
ARCHITECTURE = REPO / "docs" / "architecture.md"
# What a run's folder or a person's holds, and names that other libraries have given.
WRITTEN_FILES = {"config.json", "ensemble.toml", "history.jsonl", "placement.json", "status.json"}
OTHERS_NAMES = {"pmap", "Page", "st", "SLURM_JOB_ID"}
# That a person writes.
READERS_FILES = {"my_networks.py", "random.py", "types.py", "ensemble.py"}
# What stands in a copy of the program for what a recipe has added; asked once for all of them.
QUESTIONS = """
import json, sys
import jax.numpy as jnp
import numpy as np
from click.testing import CliRunner

import ensemble
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import list_dataset_names
from ensemble.engine.optimizer import (
    Hyperparameters, apply_gradient_step, build_update_rule, init_optimizer_state
)
from ensemble.ui.inspect.views import GROUPS
from ensemble.ui.shared.settings import ADVANCED_FIELDS
from ensemble.views.examples.example_table import tabulate_examples


def move(**settings):
    rule = build_update_rule(EnsembleConfig(momentum=0.0, **settings))
    weights, grads = {"w": jnp.zeros(2)}, {"w": jnp.array([3.0, 4.0])}
    state = init_optimizer_state(rule.optimizer, weights)
    moved, _ = apply_gradient_step(
        rule, grads, state, weights, 0.5, Hyperparameters(0.5, 0.0, 0.0)
    )
    return moved["w"].tolist()


def invoke(*words):
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    return done.stdout


apart = np.tile([[[1.0, 0.0]], [[0.0, 1.0]]], (1, 40, 1))
apart[:, 1:] = 0.5
unlike = ensemble.Predictions.from_arrays(apart, labels=np.arange(40) % 2)
np.savez("pool.npz", probabilities=apart)
sure = np.tile([0.9, 0.1], (2, 40, 1))
run = ensemble.import_predictions(sure, np.arange(40) % 5 // 3, name="theirs")
json.dump({
    "file": ensemble.__file__,
    "adagrad": move(optimizer="adagrad"),
    "plain": move(),
    "clipped": move(clip_norm=1.0),
    "help": invoke("train", "--help"),
    "advanced": ADVANCED_FIELDS,
    "datasets": list_dataset_names(),
    "chosen": EnsembleConfig(dataset="kannada_mnist").dataset,
    "view": json.loads(invoke("inspect", run.id, "overconfidence", "--json")),
    "table": json.loads(invoke("inspect", run.id, "answer", "--json")),
    "buttons": GROUPS,
    "frame": unlike.to_frame()["softmax_variance"].tolist()[:2],
    "csv": list(tabulate_examples(unlike, np.arange(2), unlike.class_names)),
    "labels": json.loads(
        invoke("label", "next", "pool.npz", "--by", "softmax_variance", "--count", "1", "--no-random-arm", "--json")
    ),
}, sys.stdout)
"""


def list_hunks(text: str) -> list[tuple[str, list[str]]]:
    """The edits of the examples in their order: the file, and its lines with their marks."""
    found = []
    for block in re.findall(r"^```diff\n(.*?)^```$", text, re.S | re.M):
        for hunk in re.split(r"^--- ", block, flags=re.M)[1:]:
            path, *lines = hunk.splitlines()
            found.append((path, lines))
    return found


def apply_hunk(top: Path, path: str, lines: list[str]) -> None:
    """Carry out one edit; what it goes by has to stand in the file once."""
    file = top / path
    before = "\n".join(line[1:] for line in lines if line[:1] != "+")
    after = "\n".join(line[1:] for line in lines if line[:1] != "-")
    if not before:
        assert not file.exists(), f"{path} is there already: say where its lines go."
        file.write_text(after + "\n", "utf-8")
        return
    pattern = re.compile(f"^{re.escape(before).replace('…', '(.+)')}$", re.M)
    text = file.read_text("utf-8")
    (match,) = pattern.finditer(text)
    for there in match.groups():
        after = after.replace("…", there, 1)
    file.write_text(text[: match.start()] + after + text[match.end() :], "utf-8")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program in which the examples were carried out."""
    top = tmp_path_factory.mktemp("recipes")
    shutil.copytree(REPO / "ensemble", top / "ensemble")
    for path, lines in list_hunks(EXAMPLES.read_text("utf-8")):
        apply_hunk(top, path, lines)
    return top


@pytest.fixture(scope="module")
def answers(changed: Path) -> dict[str, Any]:
    """What that copy says."""
    done = subprocess.run([sys.executable, "-c", QUESTIONS], cwd=changed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["file"] == str(changed / "ensemble" / "__init__.py")
    return found


@pytest.mark.long
def test_the_optimizer_of_the_example_makes_its_step(answers: dict[str, Any]) -> None:
    # Its sum of squares begins at 0.1.
    expected = [-0.5 * g / (0.1 + g * g) ** 0.5 for g in (3.0, 4.0)]
    assert answers["adagrad"] == pytest.approx(expected, rel=1e-5)
    assert "adagrad" in answers["help"]


@pytest.mark.long
def test_the_setting_of_the_example_is_an_option_a_control_and_acts(answers: dict[str, Any]) -> None:
    assert "--clip-norm" in answers["help"]
    assert "clip_norm" in answers["advanced"]
    assert answers["plain"] == pytest.approx([-1.5, -2.0])
    assert answers["clipped"] == pytest.approx([-0.3, -0.4])


@pytest.mark.long
def test_the_dataset_of_the_example_is_listed_and_can_be_chosen(answers: dict[str, Any]) -> None:
    assert "kannada_mnist" in answers["datasets"]
    assert answers["chosen"] == "kannada_mnist"


@pytest.mark.long
def test_the_measure_of_the_example_is_in_tables_and_its_view_in_json(answers: dict[str, Any]) -> None:
    assert answers["view"]["answer"] == "Its confidence is 0.300 above its accuracy."
    assert "overconfidence" in answers["table"]["tables"][0]["columns"]
    assert "overconfidence" in answers["buttons"]["Trust?"]


@pytest.mark.long
def test_the_measure_of_each_example_is_in_frames_csv_and_strategies(answers: dict[str, Any]) -> None:
    assert answers["frame"] == [0.5, 0.0]
    assert "softmax_variance" in answers["csv"]
    assert answers["labels"]["by"] == "softmax_variance"
    (first,) = answers["labels"]["next"]
    assert (first["number"], first["softmax_variance"]) == (0, 0.5)
    assert "highest softmax variance" in answers["labels"]["answer"]


def test_the_examples_are_written_as_lint_wants_them(changed: Path) -> None:
    files = {path for path, _ in list_hunks(EXAMPLES.read_text("utf-8"))}
    config = ["--no-cache", "--config", str(REPO / "pyproject.toml")]
    for words in (["format", "--diff"], ["check"]):
        command = [sys.executable, "-m", "ruff", *words, *config, *sorted(files)]
        done = subprocess.run(command, cwd=changed, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def split_sections(text: str, level: str) -> dict[str, str]:
    """The text below each heading of that level."""
    parts = re.split(rf"^{level} (.+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_an_example_edits_the_files_that_its_recipe_names() -> None:
    recipes = split_sections(GUIDE.read_text("utf-8"), "###")
    examples = split_sections(EXAMPLES.read_text("utf-8"), "##")
    assert set(examples) <= set(recipes)
    for title, example in examples.items():
        for path, _ in list_hunks(example):
            named = f"`{path}`" in recipes[title] or f"`{Path(path).parent}/`" in recipes[title]
            assert named, f"{title}: {path}"


def list_code_names() -> set[str]:
    """All that is defined or assigned in the program and its tests, at the beginning of a line."""
    files = [file for top in ("ensemble", "pages", "tests") for file in (REPO / top).rglob("*.py")]
    text = "\n".join(file.read_text("utf-8") for file in files)
    defined = set(re.findall(r"^\s*(?:def |class )?(\w+)", text, re.M))
    assigned = re.findall(r"^([A-Z_\d]+(?:, [A-Z_\d]+)+) = ", text, re.M)
    return defined | {name for names in assigned for name in names.split(", ")}


def is_path_there(path: str) -> bool:
    """Whether there is such a file or folder, also where only the end of its path is given."""
    if (REPO / path).exists():
        return True
    tops = [REPO / name for name in ("ensemble", "tests", "docs", "benchmarks")]
    return any(found for top in tops for found in top.rglob(path.rstrip("/")))


def find_lost_names(text: str, names: set[str]) -> list[str]:
    """Of what a page names in the type of code: paths, modules and names that are nowhere."""
    prose = re.sub(r"^ *```\w*\n.*?^ *```$", "", text, flags=re.S | re.M)
    lost = []
    for token in sorted(set(re.findall(r"`([^`\n]+)`", prose))):
        if re.fullmatch(r"[\w.-]+/[\w./-]*|[\w.-]+\.(py|md|jsonl?|toml|css|js)", token):
            lost += [] if is_path_there(token) or token in WRITTEN_FILES else [token]
        elif re.fullmatch(r"\w+(\.\w+)*(\(\))?", token):
            lost += [] if set(token.rstrip("()").split(".")) <= names | OTHERS_NAMES else [token]
    return lost


@pytest.mark.parametrize("page", [GUIDE, ARCHITECTURE], ids=lambda page: page.stem)
def test_files_and_names_of_code_are_there(page: Path) -> None:
    assert find_lost_names(page.read_text("utf-8"), list_code_names()) == []


def test_a_name_that_is_nowhere_is_seen() -> None:
    text = "`ensemble/nowhere.py`, `ensemble/errors.py`, `find_nowhere`, `jobs.Kind`, `JobKind`"
    assert find_lost_names(text, {"JobKind", "jobs"}) == ["ensemble/nowhere.py", "find_nowhere", "jobs.Kind"]


def test_the_docstring_that_the_guide_shows_is_one_of_the_program() -> None:
    (shown,) = re.findall(r"^  ```python\n(.*?)^  ```$", GUIDE.read_text("utf-8"), re.S | re.M)
    source = (REPO / "ensemble" / "analysis" / "quality" / "proper_scores.py").read_text("utf-8")
    assert "\n".join(line[2:] for line in shown.splitlines()) in source


@pytest.mark.parametrize("page", sorted((REPO / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_a_file_of_code_that_a_page_names_is_there(page: Path) -> None:
    named = set(re.findall(r"`([\w/-]+\.py)`", page.read_text("utf-8"))) - READERS_FILES
    assert [path for path in sorted(named) if not is_path_there(path)] == []
