import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ensemble.ui.devices.probe import DeviceInventory, DeviceProbe, collect_probe_circumstances

Ask = Callable[[tuple[str, ...]], DeviceProbe]
ANSWER = {"platform": "cpu", "devices": [{"id": 0, "kind": "cpu"}], "cores": 2}


def saying(text: str, after: float = 0.0) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import time; time.sleep({after}); print({text!r})")


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Makes probes that share a folder; what is left of them ends with the test."""
    probes: list[DeviceProbe] = []

    def make(command: tuple[str, ...]) -> DeviceProbe:
        probes.append(DeviceProbe(tmp_path, command))
        return probes[-1]

    yield make
    for probe in probes:
        if probe.process is not None:
            probe.process.kill()
            probe.process.communicate()


def wait(probe: DeviceProbe) -> DeviceInventory | None:
    deadline = time.monotonic() + 240
    while probe.process is not None and time.monotonic() < deadline:
        time.sleep(0.02)
        probe.is_pending  # noqa: B018 (looking is what moves it on)
    return probe.inventory


def test_never_blocks_and_then_knows(ask: Ask) -> None:
    probe = ask(saying(json.dumps(ANSWER), after=0.5))
    assert probe.is_pending
    assert wait(probe) == DeviceInventory("cpu", ("cpu",), 2)
    assert not probe.is_pending


def test_the_last_answer_serves_until_a_new_one_is_there(ask: Ask) -> None:
    wait(ask(saying(json.dumps(ANSWER))))
    more = ANSWER | {"devices": [{"id": 0, "kind": "cpu"}, {"id": 1, "kind": "cpu"}]}
    probe = ask(saying(json.dumps(more), after=1.0))
    assert probe.inventory == DeviceInventory("cpu", ("cpu",), 2)
    assert wait(probe) == DeviceInventory("cpu", ("cpu", "cpu"), 2)


def test_an_answer_for_other_circumstances_is_not_believed(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    wait(ask(saying(json.dumps(ANSWER))))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert ask(saying("", after=1.0)).is_pending


@pytest.mark.parametrize("text", ["", "Traceback", "{}", '{"platform": "cpu"}', "[1]"])
def test_nonsense_is_no_answer_and_no_crash(ask: Ask, text: str) -> None:
    probe = ask(saying(text))
    assert wait(probe) is None
    assert probe.failed
    assert not probe.is_pending


@pytest.mark.parametrize(
    "odd",
    [
        {"cores": 0},
        {"cores": -1},
        {"cores": 1e308},
        {"cores": True},
        {"cores": None},
        {"devices": []},
        {"devices": [None]},
        {"devices": [{"kind": 3}]},
        {"devices": {}},
        {"platform": ["cpu"]},
        {"platform": None},
    ],
)
def test_a_damaged_memory_is_no_answer(ask: Ask, tmp_path: Path, odd: dict[str, object]) -> None:
    path = tmp_path / "devices.json"
    path.write_text(json.dumps({"answer": ANSWER, "for": collect_probe_circumstances()}))
    assert not ask(saying("", after=1.0)).is_pending
    path.write_text(json.dumps({"answer": {**ANSWER, **odd}, "for": collect_probe_circumstances()}))
    assert ask(saying("", after=1.0)).is_pending


@pytest.mark.parametrize("text", ['{"answer": 3', "[" * 100_000, "[1]", '{"answer": []}'])
def test_a_torn_memory_is_no_answer(ask: Ask, tmp_path: Path, text: str) -> None:
    (tmp_path / "devices.json").write_text(text)
    assert ask(saying("", after=1.0)).is_pending


def test_a_command_that_is_not_there_is_said(ask: Ask, tmp_path: Path) -> None:
    assert ask((str(tmp_path / "nothing"),)).failed


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (DeviceInventory("cpu", ("cpu",), 2), "1 CPU device"),
        (DeviceInventory("cpu", ("cpu", "cpu"), 2), "2 CPU devices"),
        (DeviceInventory("gpu", ("NVIDIA H200",), 16), "1 GPU (NVIDIA H200)"),
    ],
)
def test_says_what_there_is(machine: DeviceInventory, said: str) -> None:
    assert machine.summary == said
