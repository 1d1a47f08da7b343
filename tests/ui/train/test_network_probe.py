"""A network of one's own is asked in a process that may do what it likes: the page is told."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from ensemble.jobs import network_probe
from ensemble.jobs.network_probe import NetworkProbe, ProbeResult
from ensemble.machine.network_cost import NetworkCost

GOOD = (
    'import json; print(json.dumps({"parameters": 7, "flops": 12, "carried": 2, "outputs": 3, '
    '"bfloat16": False, "notes": [], "layers": [{"path": "a", "shape": [7]}], '
    '"advice": ["Mind it."], "name": "leaves:Leaves"}))'
)


def answer(code: str, patience: float = 30.0) -> ProbeResult:
    question = NetworkProbe("leaves:Leaves", "digits", (sys.executable, "-S", "-c", code), patience)
    end = time.monotonic() + 240
    while question.result.is_pending and time.monotonic() < end:
        time.sleep(0.02)
    return question.result


def test_an_answer_is_its_last_line_whatever_was_printed_before() -> None:
    expected = ProbeResult(NetworkCost(7, 12, 2, 3), bfloat16=False, advice=("Mind it.",), layers=(("a", (7,)),))
    assert answer(f"print('{{}} of mine'); {GOOD}") == expected
    assert not expected.is_pending


def test_a_refusal_is_told_as_it_stands() -> None:
    code = 'print(\'{"name": "x", "error": "It gives (2, 3)."}\'); raise SystemExit(2)'
    assert answer(code) == ProbeResult(problem="It gives (2, 3).")


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os; os._exit(4)", "(exit status 4)"),
        ("import os; os.kill(os.getpid(), 11)", "(SIGSEGV)"),
        ("print('{\"parameters\": -1}')", "(exit status 0)"),
        ("print('x' * 10**7)", "(exit status 0)"),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)))", "(exit status 0)"),
    ],
)
def test_one_that_ends_the_process_is_a_sentence_with_the_way_to_see_why(code: str, how: str) -> None:
    said = answer(code).problem
    assert how in said
    assert said.endswith("`ensemble network leaves:Leaves` shows why.")


def test_one_that_never_returns_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-S', '-c', "
        "'import time; time.sleep(600)']); "
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\nwhile True: pass"
    )
    assert "did not answer in time" in answer(code, 1.0).problem
    child = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 240
    while psutil.pid_exists(child) and time.monotonic() < end:
        if psutil.Process(child).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.02)
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_it_is_asked_anew_once_its_code_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/leaves.py").write_text("a = 1")
    first = network_probe.list_code_versions("mine.leaves:Leaves")
    assert first == network_probe.list_code_versions("mine.leaves:Leaves")
    Path("mine/other.py").write_text("b = 2")
    assert network_probe.list_code_versions("mine.leaves:Leaves") != first
    Path("single.py").write_text("c")
    assert len(network_probe.list_code_versions("single:S")) == 1
    assert network_probe.list_code_versions("installed.elsewhere:S") == ()
