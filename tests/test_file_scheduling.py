"""One process has the files in a browser until no others are left, then two have."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.file_scheduling import FileScheduling, has_browser_files

TESTS = [f"tests/{name}.py::test_{number}" for name in ("a", "browser/b", "c", "browser/d") for number in range(4)]
TESTS += [f"tests/browser/{name}.py::test_{number}" for name in "efg" for number in range(4)]


class Process:
    """One that tests, as the scheduler sees it."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.shutting_down = False
        self.gateway = SimpleNamespace(id=f"gw{id(self)}")

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.fixture
def processes() -> list[Any]:
    return [Process() for _ in range(3)]


def test_which_process_tests_which_file(processes: list[Any], pytestconfig: pytest.Config) -> None:
    option = SimpleNamespace(loadscopereorder=False, tx=["popen"] * 3, maxprocesses=None, px=[])
    config: Any = SimpleNamespace(option=option, getvalue=lambda name: getattr(option, name))
    scheduling = FileScheduling(config)
    for process in processes:
        scheduling.add_node(process)
        scheduling.add_node_collection(process, TESTS)
    scheduling.schedule()
    at_once, order = 0, []
    done = [0, 0, 0]
    while any(len(process.given) > count for process, count in zip(processes, done, strict=True)):
        for number, process in enumerate(processes):
            if len(process.given) > done[number]:
                order.append((number, TESTS[process.given[done[number]]].split("::")[0][6:-3]))
                scheduling.mark_test_complete(process, process.given[done[number]])
                done[number] += 1
        at_once = max(at_once, sum(map(has_browser_files, scheduling.assigned_work.values())))
    assert sorted(index for process in processes for index in process.given) == list(range(len(TESTS)))
    assert order[0] == (0, "browser/b")
    assert {number for number, file in order if file in "ac"} == {1, 2}
    assert at_once == 2
