"""What is given to `predict` as a picture and is none, or is gone: a sentence, without waiting."""

import json
import os
import threading
from pathlib import Path

import pytest

from ensemble.cli.results.predict import escape_path_bytes, read_picture_file
from ensemble.errors import ImageError
from ensemble.wording.escaping import escape_terminal_text


def said_of(path: Path) -> str:
    """What is said of a path within some seconds."""
    found: list[str] = []

    def read() -> None:
        with pytest.raises(ImageError) as error:
            read_picture_file(path)
        found.append(str(error.value))

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    reading.join(10)
    return found[0] if found else "still waiting"


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "/dev/null"])
def test_a_pipe_or_a_device_is_not_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "pipe" if kind == "pipe" else Path(kind)
    if kind == "pipe":
        os.mkfifo(path)
    assert said_of(path) == ("This is a pipe or a device: save the picture to a file and give that.")


def test_a_folder_and_what_is_not_there_are_said(tmp_path: Path) -> None:
    assert said_of(tmp_path) == "This is a folder: name the pictures in it."
    (tmp_path / "link").symlink_to("link")
    for name in ("gone", "link", "x" * 300):
        assert "give a file that exists and that you may read" in said_of(tmp_path / name)


def test_a_name_that_is_not_utf8_is_valid_json_and_can_be_printed() -> None:
    path = Path(os.fsdecode(b"/tmp/\xff-\xc3\xa9.png"))
    assert json.dumps(escape_path_bytes(path), ensure_ascii=False).encode() == rb'"/tmp/\\xff-' + ('é.png"'.encode())
    assert escape_terminal_text(escape_path_bytes(path)) == r"/tmp/\xff-é.png"
