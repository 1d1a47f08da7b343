"""Every command of the documents is run, page by page, as a reader would go through it."""

import re
from pathlib import Path

import pytest

from tests.documents import PAGES, REPO
from tests.site.documented_commands import NOT_RUN, list_page_commands, shorten_command, walk_page
from tests.site.documented_jobs import JobMaterials

pytestmark = pytest.mark.usefixtures("two_devices_a_worker")

# Run whenever the tests are: what they take is one small run.
SHORT_PAGES = {"docs/screens/predictions.md", "docs/screens/runs.md", "docs/screens/why.md"}
COMMANDS = {page.relative_to(REPO).as_posix(): commands for page in PAGES if (commands := list_page_commands(page))}


@pytest.fixture(scope="module")
def materials(tmp_path_factory: pytest.TempPathFactory) -> JobMaterials:
    """The jobs that pages take as there, each made when the first page asks for it."""
    return JobMaterials(tmp_path_factory.mktemp("materials"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SHORT_PAGES else pytest.mark.long) for name in COMMANDS]
)
def test_the_commands_of_a_page_do_what_they_say(name: str, tmp_path: Path, materials: JobMaterials) -> None:
    reasons = {command.line: command.reason_not_run for command in COMMANDS[name]}
    with walk_page(REPO / name, tmp_path / "page", materials) as walk:
        for command in COMMANDS[name]:
            if not reasons[command.line]:
                walk.run_command(command)
    left_out = "\n".join(f"{line} ({reason})" for line, reason in reasons.items() if reason)
    if all(reasons.values()):
        pytest.skip(left_out)
    print(f"Not run:\n{left_out}" if left_out else "All were run.")


def test_every_reason_not_to_run_a_command_is_one_of_a_command() -> None:
    lines = [command.line for commands in COMMANDS.values() for command in commands]
    idle = [start for start in NOT_RUN if not any(re.match(start, line) for line in lines)]
    assert idle == []
    assert len(lines) > 100


def test_only_sizes_are_changed_in_a_command() -> None:
    words = ["train", "--members", "4", "--learning-rate", "0.1", "--network", "my:Own"]
    assert shorten_command(words) == [
        *("train", "--members", "2", "--learning-rate", "0.1", "--network", "my:Own"),
        *("--epochs", "1"),
    ]
    assert shorten_command(["train", "--resume", "RUN"]) == ["train", "--resume", "RUN"]
