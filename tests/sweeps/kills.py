"""Workers that are killed within a test, at a given moment."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ensemble.storage.folders import runs_folder


class Killed(BaseException):
    """What ends a worker within a test; `said` is what its jobs' statuses were at that moment."""

    def __init__(self) -> None:
        self.said = {file: file.read_bytes() for file in runs_folder().glob("*/status.json")}


@contextmanager
def killed() -> Iterator[None]:
    """A worker is killed in here: it has no chance to say anything of that."""
    with pytest.raises(Killed) as found:
        yield
    for file, content in found.value.said.items():
        file.write_bytes(content)


def kill_after(
    monkeypatch: pytest.MonkeyPatch,
    place: Any,
    name: str,
    before: bool = False,
    when: Callable[..., bool] = lambda *args, **notes: True,
) -> None:
    """The first call of a function for which `when` holds is the worker's last deed."""
    real = getattr(place, name)
    calls: list[str] = []

    def killing(*args: Any, **notes: Any) -> Any:
        last = not calls and when(*args, **notes)
        if last:
            calls.append(name)
        if last and before:
            raise Killed
        found = real(*args, **notes)
        if last:
            raise Killed
        return found

    monkeypatch.setattr(place, name, killing)
