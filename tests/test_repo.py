"""The repository's own rules: words for every name, small files, safe settings, legible colours."""

import ast
import colorsys
import functools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ensemble
from ensemble import extras
from ensemble.export import EXPORT_FORMATS
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR
from tests.conftest import LONG
from tests.contrast import channels, contrast, mix
from tests.sources import find_imports

REPO = Path(__file__).resolve().parent.parent
MODULES = sorted((REPO / "ensemble").rglob("*.py"))
PAGES = sorted((REPO / "pages").glob("*.py"))
BENCHMARKS = sorted((REPO / "benchmarks").rglob("*.py"))
SCRIPTS = [*sorted((REPO / "scripts").iterdir()), REPO / ".ci" / "run"]
CONFIG = tomllib.loads((REPO / ".streamlit" / "config.toml").read_text("utf-8"))

MAX_LINES = 700
LONGER: dict[str, str] = {}  # path: why it has to be

IMPORT_NAMES = {
    "pytest-xdist": "xdist",
    "scikit-activeml": "skactiveml",
    "PyYAML": "yaml",
    "ipython": "IPython",
    "markdown-it-py": "markdown_it",
    "orbax-checkpoint": "orbax",
    "pillow": "PIL",
    "scikit-learn": "sklearn",
    "tensorflow-datasets": "tensorflow_datasets",
}
OWN = {"ensemble", "pages", "tests", "app", "scripts", "benchmarks"}
NOT_IMPORTED = {
    "flatbuffers": "jax.export writes traced programs with it (ensemble/engine/trace_cache.py)",
    "importlib_resources": "tensorflow-datasets imports it without requiring it",
    "ruff": "scripts/lint runs it",
    "mypy": "scripts/lint runs it",
}
# Whoever has jax has jaxlib, and with Streamlit what its server is made of, as fits; IPython asks
# a view for its display, and so is there.
THERE = {"jaxlib", "starlette", "uvicorn", "websockets", "IPython"}


def relative(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def test_a_file_is_short_enough_to_read() -> None:
    every = [*MODULES, *PAGES, *(REPO / "tests").rglob("*.py"), *BENCHMARKS]
    lines = {relative(path): len(path.read_text("utf-8").splitlines()) for path in every}
    long = {path: count for path, count in lines.items() if count > MAX_LINES}
    assert long.keys() - LONGER.keys() == set(), long


def requirements(name: str) -> set[str]:
    """The packages that a requirements file lists itself."""
    lines = (REPO / name).read_text("utf-8").splitlines()
    listed = (re.match(r"[A-Za-z0-9_.-]+", line) for line in lines if line[:1] not in "#-")
    return {match.group() for match in listed if match}


def third_party_imports(paths: list[Path]) -> set[str]:
    """Top-level names of all packages imported that are neither Python's nor the project's."""
    found: set[str] = set()
    for path in paths:
        for node in find_imports(path.read_text("utf-8")):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found - sys.stdlib_module_names - OWN


@functools.cache
def app_imports() -> set[str]:
    return third_party_imports([*MODULES, *PAGES, *REPO.glob("app.py")])


def import_names(packages: set[str]) -> set[str]:
    return {IMPORT_NAMES.get(package, package.replace("-", "_")) for package in packages}


def test_the_package_requires_what_requirements_txt_lists() -> None:
    lines = (REPO / "requirements.txt").read_text("utf-8").splitlines()
    listed = [line.split("#")[0].strip() for line in lines]
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    # A clone has what shares and submits; a plain install does without, in the same versions.
    shared = {line.replace("[auth]", ""): line for line in extras["share"]}
    plain = [line.replace("[auth]", "") for line in listed if line not in extras["cluster"]]
    assert project["dependencies"] == [line for line in plain if line]
    assert {shared.get(line, line) for line in project["dependencies"]} | {*extras["cluster"]} == {
        line for line in listed if line
    }


def test_the_extra_requires_what_requirements_export_txt_lists() -> None:
    lines = (REPO / "requirements-export.txt").read_text("utf-8").splitlines()
    listed = [line.split("#")[0].strip() for line in lines if line[:1] not in "#-"]
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["optional-dependencies"]["export"] == listed
    assert set(project["optional-dependencies"]) == {extras.CLUSTER, extras.EXPORT, extras.SHARE}
    # A form of export names what it takes, and nothing else may import it.
    named = {name for one in EXPORT_FORMATS.values() for name in one.packages}
    assert named == requirements("requirements-export.txt")
    for path in MODULES:
        if third_party_imports([path]) & named:
            assert relative(path).startswith("ensemble/export/"), path


def test_every_requirement_is_used() -> None:
    listed = requirements("requirements.txt") | requirements("requirements-export.txt")
    needed = {name for name in listed if name not in NOT_IMPORTED}
    assert import_names(needed) - app_imports() == set()


def test_every_import_is_required() -> None:
    listed = requirements("requirements.txt") | requirements("requirements-export.txt")
    assert app_imports() - import_names(listed) - THERE == set()


def test_every_import_of_the_tests_is_required() -> None:
    names = ("requirements.txt", "requirements-export.txt", "requirements-dev.txt")
    listed = {package for name in names for package in requirements(name)}
    imported = third_party_imports(sorted((REPO / "tests").rglob("*.py")))
    assert imported - import_names(listed) - THERE == set()


def test_server_keeps_to_this_machine() -> None:
    server = CONFIG["server"]
    assert server["address"] == "localhost"
    assert set(server["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert server["maxUploadSize"] <= 500
    assert server["xsrfCookieSameSite"] == "strict"
    for protection in ("enableCORS", "enableXsrfProtection"):
        assert server.get(protection, True) is True


def test_page_tells_nobody_else_and_shows_no_tracebacks() -> None:
    assert CONFIG["browser"]["gatherUsageStats"] is False
    # Without it a server for others asks checkip.amazonaws.com what its own address is.
    assert CONFIG["browser"]["serverAddress"] == "localhost"
    assert CONFIG["client"]["showErrorDetails"] == "none"
    assert CONFIG["client"]["showErrorLinks"] is False


def test_theme_loads_nothing_from_elsewhere() -> None:
    assert "://" not in str(CONFIG["theme"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read(scheme: str) -> None:
    theme = CONFIG["theme"][scheme]
    for ground in (theme["backgroundColor"], theme["secondaryBackgroundColor"]):
        assert contrast(theme["textColor"], ground) >= 7
        assert contrast(theme["linkColor"], ground) >= 4.5
    assert contrast("#FFFFFF", theme["primaryColor"]) >= 4.5, "white on a primary button"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "figure"), [("blue", RIGHT_COLOR), ("orange", WRONG_COLOR)])
def test_better_and_worse_can_be_read_in_the_hues_of_right_and_wrong(scheme: str, name: str, figure: str) -> None:
    theme = CONFIG["theme"][scheme]
    words, behind = theme[f"{name}TextColor"], theme[f"{name}BackgroundColor"]
    for ground in (behind, theme["backgroundColor"], theme["secondaryBackgroundColor"]):
        assert contrast(words, ground) >= 4.5
    hues = [colorsys.rgb_to_hsv(*channels(one))[0] for one in (words, figure)]
    assert hues[0] == pytest.approx(hues[1], abs=0.03)


@pytest.mark.parametrize(
    ("scheme", "least"),
    # White has to be legible on it, so on a dark ground it cannot reach 4.5: there it marks
    # controls, for which 3 is enough, and words in it are given the text colour by the app.
    [("light", 4.5), ("dark", 3.0)],
)
def test_primary_colour_stands_out(scheme: str, least: float) -> None:
    theme = CONFIG["theme"][scheme]
    primary, ground = theme["primaryColor"], theme["backgroundColor"]
    tinted = mix(ground, primary, 0.1)  # Streamlit's ground of the segment that is chosen
    for behind in (ground, theme["secondaryBackgroundColor"], tinted):
        assert contrast(primary, behind) >= least


def test_changelog_says_what_is_in_this_version() -> None:
    changelog = (REPO / "CHANGELOG.md").read_text("utf-8")
    sections = re.findall(r"^## \[([^\]]+)\]", changelog, re.M)
    # What is released next comes first, and this version is the newest that was cut.
    assert sections[:2] == ["Unreleased", ensemble.__version__]
    assert len(set(sections)) == len(sections)


def test_licence_is_the_apache_licence() -> None:
    text = (REPO / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_scripts_are_executable_and_parse() -> None:
    assert [relative(path) for path in SCRIPTS if not path.stat().st_mode & 0o111] == []
    for path in SCRIPTS:
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_what_is_to_begin_first_is_there() -> None:
    assert [start for start in LONG if not list((REPO / "tests").glob(f"{start}*"))] == []


def test_scripts_name_only_tests_that_are_there() -> None:
    said = "\n".join(path.read_text("utf-8") for path in SCRIPTS)
    named = set(re.findall(r"\btests(?:/\w+)+(?:\.py)?", said))
    assert [name for name in sorted(named) if not (REPO / name).exists()] == []
