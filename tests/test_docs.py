"""What a person can set, call and read stands in the documents, and nothing there is made up.

After the tests of the documents of Datasette: the program itself is asked what there is.
"""

import ast
import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import ensemble
from ensemble import regression, runs, sweeps
from ensemble.access import Action, Person, Role, audit_log
from ensemble.acquisition.learning_job import LearningConfig
from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.analysis.unlabelled.accuracy_estimate import ESTIMATORS, EstimatedShare
from ensemble.cli.program import main
from ensemble.cli.results import predict
from ensemble.cli.results.distil import serialize_teacher_comparison
from ensemble.cli.stress_and_regression import summarize_regression, summarize_stress
from ensemble.cli.sweep import summarize_sweep
from ensemble.cli.train import summarize_run
from ensemble.cluster.array_script import ArrayConfig
from ensemble.cluster.kubernetes import KubernetesConfig
from ensemble.cluster.settings import SlurmConfig
from ensemble.config import EnsembleConfig, RegressionConfig
from ensemble.datasets.own.request import PreparationSettings
from ensemble.pictures.files.picture import open_picture
from ensemble.pictures.preparation import prepare_picture
from ensemble.recognition.picture_reading import Digit, Reading
from ensemble.regression import LbfgsConfig
from ensemble.settings import Settings, list_setting_choices, list_setting_fields
from ensemble.shift import StressState
from ensemble.storage.folders import runs_folder
from ensemble.sweeps import SweepConfig
from ensemble.sweeps.settings import STORAGE_VARIABLE
from ensemble.sweeps.worker import work_on_sweep
from ensemble.wording.accuracy_estimates import serialize_estimated_share
from tests.documents import (
    PAGES,
    REFERENCE,
    REPO,
    format_anchor,
    list_code_lines,
    list_inline_code,
    list_links,
    list_table_rows,
    read_linked_texts,
    read_sections,
)
from tests.pages import stressed
from tests.pages.ensembles import trained
from tests.pages.marks import IMAGE, NAMES
from tests.planning import test_distillation
from tests.recorded.recording import Recording, unpack
from tests.sweeps.light import light_config, train_lightly

VARIABLE = re.compile(r"\bENSEMBLE_[A-Z][A-Z_]*[A-Z]\b")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w.-]*")
SECTIONS = read_sections(REFERENCE)

# What pages say of other programs: click, Docker and its kin, oauth2-proxy; and of Streamlit.
OTHER_OPTIONS = {"--help", "--build-arg", "--format", "--shm-size", "--pass-user-headers"}
STREAMLIT_OPTIONS = ("--server.", "--secrets.")

# Commands whose section links to where their options stand: to another page, or to `train`.
OPTIONS_ELSEWHERE = {"distil", "sweep", "manifest", "label"}
# Which command has the options of which settings.
SETTINGS_COMMANDS: list[tuple[type[Settings], str]] = [
    (EnsembleConfig, "train"),
    (RegressionConfig, "train --task regression"),
    (SlurmConfig, "train"),
    (SweepConfig, "sweep"),
    (LbfgsConfig, "lbfgs"),
    (PreparationSettings, "data"),
    (LearningConfig, "label"),
    (KubernetesConfig, "manifest"),
    (ArrayConfig, "manifest --for array"),
]
# The pages of those whose options stand on pages of their own.
OPTION_PAGES = {
    "manifest": "kubernetes.md",
    "manifest --for array": "schedulers.md",
    "train --task regression": "tables.md",
}
# Settings that are said by something else than an option of their name.
SAID_BY = {"objectives": "--objective", "storage": "ENSEMBLE_STORAGE"}


def list_commands(
    group: click.Group = main, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that people call, with the words that it is called by, subcommands too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if command.hidden:
            continue
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from list_commands(command, (*words, name))


COMMANDS = dict(list_commands())


def list_options(command: click.Command, negated: bool = False) -> set[str]:
    """The long options of a command; those that say no as well, if asked."""
    return {
        name
        for one in command.params
        if isinstance(one, click.Option) and not one.hidden
        for name in (*one.opts, *(one.secondary_opts if negated else ()))
        if name.startswith("--")
    }


def list_section_options(section: str) -> set[str]:
    """All options of the command that has a section of the reference, and of its subcommands."""
    return {
        option
        for words, command in COMMANDS.items()
        if words[0] == section
        for option in list_options(command, negated=True)
    }


def read_command_text(section: str) -> str:
    """What is said of a command: its section of the reference, and what this one links to."""
    text = SECTIONS[section]
    return "\n".join([text, *read_linked_texts(text, REFERENCE)])


def read_options_text(section: str) -> str:
    """Where the options of a command have to stand."""
    if section in OPTION_PAGES and section not in OPTIONS_ELSEWHERE:
        return (REPO / "docs" / OPTION_PAGES[section]).read_text("utf-8")
    return read_command_text(section) if section in OPTIONS_ELSEWHERE else SECTIONS[section]


def list_named_options(text: str) -> set[str]:
    """The options that are named within the lines of a text, not in its examples alone."""
    return {option for span in list_inline_code(text) for option in OPTION.findall(span)}


def list_text_variables(paths: list[Path], pattern: str = r"\b({})\b") -> set[str]:
    """This project's environment variables in files, where they stand in `pattern`."""
    asked = re.compile(pattern.format(VARIABLE.pattern))
    return {name for path in paths for name in asked.findall(path.read_text("utf-8"))}


def list_string_variables(paths: list[Path]) -> set[str]:
    """The texts in modules that are the name of a variable of this project and nothing else."""
    return {
        node.value
        for path in paths
        if VARIABLE.search(text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and VARIABLE.fullmatch(node.value)
    }


def list_shell_files() -> list[Path]:
    """What is written for a shell, or for Docker Compose, whose variables look the same."""
    scripts = [path for path in (REPO / "scripts").iterdir() if path.is_file()]
    return [*scripts, *(REPO / "deploy").glob("*.yaml")]


@cache
def list_program_variables() -> set[str]:
    """The environment variables of this project that the program, scripts or the image read."""
    modules = [path for top in ("ensemble", "pages") for path in sorted((REPO / top).rglob("*.py"))]
    shell = list_text_variables(list_shell_files(), r"\$\{{?({})")
    return list_string_variables([*modules, REPO / "app.py"]) | shell


def test_the_reading_of_pages_misses_nothing() -> None:
    assert {"train", "runs", "devices", ""} <= set(SECTIONS)
    assert ("runs", "list") in COMMANDS
    assert {"--json", "--tag"} <= list_options(COMMANDS["runs", "list"])
    assert {"ENSEMBLE_RUNS", "ENSEMBLE_SLOTS", "ENSEMBLE_HOSTS"} <= list_program_variables()
    assert "--batch-size" not in list_named_options(read_command_text("inspect"))


def test_every_link_to_a_heading_finds_it() -> None:
    lost = [
        (page.name, link)
        for page in PAGES
        for link in sorted(list_links(page.read_text("utf-8")))
        if "#" in link and not leads_to_heading(link, page)
    ]
    assert lost == []


def leads_to_heading(link: str, page: Path) -> bool:
    """Whether the page that a link with an anchor leads to has a heading of it."""
    name, _, anchor = link.partition("#")
    return anchor in read_sections(page.parent / name if name else page)


def test_every_environment_variable_is_documented() -> None:
    text = {span for page in PAGES for span in list_inline_code(page.read_text("utf-8"))}
    named = {name for span in text for name in VARIABLE.findall(span)}
    assert list_program_variables() - named == set()


def test_no_environment_variable_is_documented_that_nothing_reads() -> None:
    tests = list_string_variables(sorted((REPO / "tests").rglob("*.py")))
    assert list_text_variables(PAGES) - list_program_variables() - tests == set()


def test_every_row_of_the_settings_is_a_variable_that_something_reads() -> None:
    rows = list_table_rows((REPO / "docs" / "settings.md").read_text("utf-8"))[2:]
    names = {name for row in rows for name in list_inline_code(row[0])}
    assert {"ENSEMBLE_RUNS", "JAX_PLATFORMS"} <= names
    sources = [*sorted((REPO / "ensemble").rglob("*.py")), *list_shell_files()]
    words = {word for path in sources for word in re.findall(r"[A-Z_]+", path.read_text("utf-8"))}
    assert names - words == set()


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    headings = re.findall(r"^## (.+)$", REFERENCE.read_text("utf-8"), re.M)
    assert sorted(map(format_anchor, headings)) == sorted({words[0] for words in COMMANDS})


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_shown_as_it_is_called(words: tuple[str, ...]) -> None:
    section = SECTIONS[words[0]]
    shown = [*list_code_lines(section), *list_inline_code(section)]
    called = re.compile(rf"(^| )ensemble {' '.join(words)}\b")
    assert any(called.search(line) for line in shown)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_of_a_command_is_documented(words: tuple[str, ...]) -> None:
    named = list_named_options(read_options_text(words[0]))
    assert list_options(COMMANDS[words]) - named == set()


def test_the_options_of_the_program_itself_are_documented() -> None:
    assert list_options(main) - list_named_options(SECTIONS[""]) == set()


@pytest.mark.parametrize("section", sorted({words[0] for words in COMMANDS}))
def test_a_command_has_every_option_that_its_section_lists(section: str) -> None:
    rows = [row[0] for row in list_table_rows(SECTIONS[section])]
    points = re.findall(r"^- (`--[^:]*`):", SECTIONS[section], re.M)
    listed = {option for one in (*rows, *points) for option in list_named_options(one)}
    assert listed - list_section_options(section) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_option_is_documented_that_no_command_has(page: Path) -> None:
    text = page.read_text("utf-8")
    spans = [span for span in list_inline_code(text) if span.startswith("--")]
    lines = [line.partition("-m ensemble ")[2] for line in list_code_lines(text)]
    named = {option for words in (*spans, *lines) for option in OPTION.findall(words)}
    known = {option for command in COMMANDS.values() for option in list_options(command, True)}
    known |= list_options(main) | OTHER_OPTIONS
    if page.name == "measured.md":
        modules = sorted((REPO / "benchmarks").rglob("*.py"))
        known |= {one for path in modules for one in re.findall(r'"(--[\w-]+)"', path.read_text())}
    assert {one for one in named - known if not one.startswith(STREAMLIT_OPTIONS)} == set()


@pytest.mark.parametrize("section", ["train", "lbfgs", "sweep", "report"])
def test_the_reference_describes_an_option_as_its_help_does(section: str) -> None:
    """The table may say more after that; ranges and defaults have columns of their own."""
    described = {row[0].strip("`"): row[1] for row in list_table_rows(SECTIONS[section])}
    options = {
        name: parameter.help or ""
        for words, command in COMMANDS.items()
        if words[0] == section
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
    }
    differing = {
        name: (text, options[name])
        for name, text in described.items()
        if name in options and name != "--out"
        if not simplify_text(text).startswith(simplify_text(extract_help_sentence(options[name])))
    }
    assert len(described.keys() & options.keys()) > 2
    assert differing == {}


def extract_help_sentence(text: str) -> str:
    """A help text without its range, choices, default and repetition."""
    sentence = re.split(r"\.? (?:One of|A whole number|A number|Can be repeated)\b", text)[0]
    return re.sub(r"; \w+ by default\.?$", "", sentence).removesuffix(".")


def simplify_text(text: str) -> str:
    """Letters and digits alone, links by their text."""
    return re.sub(r"[^a-z0-9]+", " ", re.sub(r"\]\([^)]*\)", "", text).lower()).strip()


@pytest.mark.parametrize(("settings", "section"), SETTINGS_COMMANDS)
def test_every_setting_is_documented_by_its_option(settings: type[Settings], section: str) -> None:
    text = read_options_text(section)
    named = list_named_options(text) | {name for span in list_inline_code(text) for name in VARIABLE.findall(span)}
    fields = [one.name for one in list_setting_fields(settings)]
    assert fields
    said = {SAID_BY.get(name, "--" + name.replace("_", "-")) for name in fields}
    assert said - named == set()


def test_every_kind_of_settings_is_held() -> None:
    modules = sorted((REPO / "ensemble").rglob("*.py"))
    made = {
        name
        for path in modules
        for name in re.findall(r"^class (\w+)\((?:Settings|TrainingConfig)\):", path.read_text("utf-8"), re.M)
    }
    # What an imported run is, nobody sets; what tasks have in common, each declares.
    assert made - {"ImportedConfig", "TrainingConfig"} == {settings.__name__ for settings, _ in SETTINGS_COMMANDS}


@pytest.mark.parametrize(
    ("settings", "section"),
    [one for one in SETTINGS_COMMANDS if one[1] in ("train", "sweep", "lbfgs") or one[1] in OPTION_PAGES],
)
def test_ranges_choices_and_defaults_are_those_of_the_settings(settings: type[Settings], section: str) -> None:
    page = OPTION_PAGES.get(section)
    text = (REPO / "docs" / page).read_text("utf-8") if page else SECTIONS[section]
    rows = {row[0].strip("`"): row[2:] for row in list_table_rows(text) if len(row) == 4}
    expected = {
        "--" + field.name.replace("_", "-"): described
        for field in list_setting_fields(settings)
        if field.name not in SAID_BY and (described := describe_setting_row(field))
    }
    found = {name: [cell.replace(",", "") for cell in rows[name]] for name in expected if name in rows}
    assert {name: expected[name] for name in found} == found
    # The sizes of a regression stand in one row.
    assert set(expected) - set(found) <= {"--samples", "--features", "--classes"}
    assert len(found) > 3


def describe_setting_row(field: "dataclasses.Field[Any]") -> list[str] | None:
    """Range and default of a setting, without commas; None where its row says it in other words."""
    default, low, high = field.default, field.metadata["low"], field.metadata["high"]
    if isinstance(default, bool):
        return None if default else ["a switch", "off"]
    if low is not None:
        return [f"{format_number(low)} to {format_number(high)}", format_number(default)]
    choices = list_setting_choices(field)
    if choices and not callable(field.metadata["choices"]):
        return [" ".join(f"`{choice}`" for choice in choices), f"`{default}`"]
    return None


def format_number(value: float) -> str:
    """A number as the reference has it, without commas."""
    return str(int(value)) if value == int(value) else str(value)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Runs of a real program, which no test here changes."""
    return unpack(tmp_path_factory.mktemp("recorded"))


@pytest.fixture
def recording(unpacked: Recording, monkeypatch: pytest.MonkeyPatch) -> Recording:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(unpacked.runs))
    monkeypatch.setenv("ENSEMBLE_DATA", str(unpacked.data))
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")  # `network` sets it, and it is taken back.
    return unpacked


def call_json(*words: str) -> dict[str, Any]:
    """The first object that a command prints."""
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found, _ = json.JSONDecoder().raw_decode(done.stdout)
    assert isinstance(found, dict)
    return found


def print_run_command(*words: str) -> Callable[[Recording], dict[str, Any]]:
    """What a command prints of the finished run, whose id stands in place of RUN."""
    return lambda recording: call_json(*(recording.ids["finished"] if word == "RUN" else word for word in words))


# The section of a command and its JSON, of trainings and regressions as their commands make it.
PRINTED: dict[str, tuple[str, Callable[[Recording], dict[str, Any]]]] = {
    "train": ("train", lambda at: summarize_run(runs.find_run(at.ids["finished"]))),
    "runs list": ("runs", print_run_command("runs", "list", "--json")),
    "runs show": ("runs", print_run_command("runs", "show", "RUN")),
    "inspect": ("inspect", print_run_command("inspect", "RUN", "--json")),
    "inspect a view": ("inspect", print_run_command("inspect", "RUN", "calibration", "--json")),
    "lbfgs": ("lbfgs", lambda at: summarize_regression(regression.find_regression(at.ids["solve"]))),
    "data list": ("data", print_run_command("data", "list", "--json")),
    "network": ("network", print_run_command("network", "logistic", "--json")),
    "devices": ("devices", print_run_command("devices", "--json")),
}


def list_unnamed_fields(found: dict[str, Any], section: str) -> set[str]:
    """The fields of an object that neither its command's section nor what it links to names."""
    named = set(list_inline_code(read_command_text(section)))
    return set(found) - named


@pytest.mark.parametrize("name", PRINTED)
def test_every_field_of_the_json_is_documented(name: str, recording: Recording) -> None:
    section, print_object = PRINTED[name]
    found = print_object(recording)
    assert found
    assert list_unnamed_fields(found, section) == set()


def test_every_field_of_a_prediction_is_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = np.full(10, 0.1)
    digit = Digit(
        1, shares, shares[None], np.ones(2, int), dict.fromkeys(EXAMPLE_MEASURES, 0.1), 1.0, 2.0, 0.5, False, ""
    )
    classifier = SimpleNamespace(
        run_id="a-run",
        epoch=1,
        class_names=NAMES,
        open_picture=open_picture,
        prepare_picture=prepare_picture,
        read_marks=lambda marks, refuse: Reading((digit,) * len(marks), "1", 0.9, ""),
    )
    monkeypatch.setattr(predict, "open_classifier", lambda run_id, epoch: classifier)
    Image.fromarray(IMAGE[..., 0]).save(tmp_path / "picture.png")
    found = call_json("predict", "a-run", str(tmp_path / "picture.png"), "--json")
    assert list_unnamed_fields(found, "predict") == set()
    assert list_unnamed_fields(found["digits"][0], "predict") == set()


def test_every_field_of_an_accuracy_estimate_is_documented() -> None:
    run = ensemble.open_run(trained(members=2, epochs=2).id)
    found = run.estimate_accuracy(probabilities=run.predictions().probabilities).to_dict()
    share = serialize_estimated_share(EstimatedShare(0.9, 0.8, 1.0))
    estimators = dict.fromkeys(ESTIMATORS)
    for part in ({"estimate": found}, found, found["labelled"], found["likeness"], estimators, share):
        assert list_unnamed_fields(part, "predict") == set()


def test_every_field_of_a_comparison_is_documented() -> None:
    ids = [trained(members=members, epochs=1).id for members in (2, 3)]
    found = call_json("compare", *ids, "--baseline", ids[0], "--json")
    assert list_unnamed_fields(found, "compare") == set()
    for group in found["groups"]:
        assert list_unnamed_fields(group, "compare") == set()
        assert list_unnamed_fields(group["figures"], "compare") == set()
        assert list_unnamed_fields(group["figures"]["accuracy"], "compare") == set()


@pytest.mark.long
def test_every_field_of_an_export_and_of_a_report_is_documented(recording: Recording, tmp_path: Path) -> None:
    run_id = recording.ids["finished"]
    exported = call_json("export", run_id, str(tmp_path / "outputs.npz"))
    assert list_unnamed_fields(exported, "export") == set()
    written = call_json("report", run_id, "--out", str(tmp_path / "run.html"))
    assert list_unnamed_fields(written, "report") == set()


@pytest.mark.long
def test_every_field_of_an_import_is_documented(tmp_path: Path) -> None:
    run = trained(members=2, epochs=1)
    call_json("export", run.id, str(tmp_path / "outputs.npz"))
    call_json("report", run.id, "--out", str(tmp_path / "run.html"))
    summary = set(summarize_run(run)) - {"tags"}
    for name in ("outputs.npz", "run.html"):
        found = call_json("import", str(tmp_path / name))
        assert list_unnamed_fields({**found, **dict.fromkeys(summary)}, "train") <= set(found)
        assert list_unnamed_fields(dict.fromkeys(set(found) - summary), "import") == set()


def test_every_field_of_the_audit_log_is_documented() -> None:
    ann = Person("ann@example.org", Role.MEMBER)
    audit_log.write_audit_entry(Action.LAUNCH, "a-run", ann)
    entry = json.loads((runs_folder() / audit_log.LOG_FILE).read_text())
    (sentence,) = re.findall(r"JSON object with the fields (.*?)\.", (REPO / "docs" / "serving.md").read_text("utf-8"))
    assert set(entry) == set(re.findall(r"`(\w+)`", sentence))


@pytest.mark.long
def test_every_field_of_a_sweep_and_of_its_trials_is_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    monkeypatch.setattr(runs, "execute_run", train_lightly)
    found = summarize_sweep(work_on_sweep(sweeps.create_sweep(light_config()).id))
    assert list_unnamed_fields(found, "sweep") == set()
    assert list_unnamed_fields(found["trials"][0], "sweep") == set()


def test_every_field_of_a_measurement_under_shift_is_documented() -> None:
    run = stressed.checkpointed(trained(members=2, epochs=2))
    found = summarize_stress(StressState(run, None, stressed.measured(run), 500))
    assert list_unnamed_fields(found, "stress") == set()
    for part in (found["steps"][0], found["outside"][0]):
        assert list_unnamed_fields(part, "stress") == set()


def test_every_field_of_a_distillation_is_documented() -> None:
    comparison = test_distillation.compare(test_distillation.taught())
    found = serialize_teacher_comparison(comparison)
    found["auroc"] = [{"title": "", "student": 0.5, "teacher": 0.5}]
    added = {"teacher": "", "against_teacher": found}
    for part in (
        added,
        found,
        found["student"],
        found["losses"],
        found["losses"]["nll"],
        found["ece"],
        found["auroc"][0],
    ):
        assert list_unnamed_fields(part, "distil") == set()


@pytest.mark.variant
def test_every_field_of_a_measurement_of_speed_is_documented() -> None:
    found = call_json("bench", "--dataset", "digits", "--members", "1", "--seconds", "0.1", "--json")
    assert list_unnamed_fields(found, "bench") == set()
