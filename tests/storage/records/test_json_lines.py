"""Histories that are read from their end."""

from pathlib import Path

import pytest

from ensemble.storage.records import json_lines
from ensemble.storage.records.json_lines import append_line, iterate_lines_from_end, read_lines
from tests.sweeps.light import epoch_line, light_config


@pytest.mark.parametrize("block", [7, 300, 2**16])
def test_lines_from_the_end_are_those_from_the_beginning_reversed(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "_END_BLOCK_BYTES", block)
    file = tmp_path / "history.jsonl"
    assert list(iterate_lines_from_end(file)) == []
    for epoch in range(1, 6):
        append_line(file, epoch_line(light_config().base, epoch))
        with file.open("a") as more:
            more.write("\n[odd]\n")
    with file.open("a") as more:
        more.write('{"kind": "epoch", "torn')
    lines = read_lines(file)
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4, 5]
    assert list(iterate_lines_from_end(file)) == lines[::-1]
