"""The lines of docs/take_it_away.md on serving do what it says, sent as they stand."""

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.documents import REPO, list_inline_code, read_sections
from tests.serving.server_process import Server
from tests.serving.test_predictions import IMAGES, PICTURE

PAGE = (REPO / "docs" / "take_it_away.md").read_text("utf-8").partition("## Ask it over HTTP")[2]
BLOCKS = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE, re.S | re.M)
CURL = [line for _, block in BLOCKS for line in block.splitlines() if line.startswith("curl")]
(PROGRAM,) = [block for language, block in BLOCKS if language == "python"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "images.npy", IMAGES[:4])
    Image.open(io.BytesIO(PICTURE)).save(tmp_path / "four.png")
    return tmp_path


def test_every_field_is_documented(server: Server) -> None:
    reference = read_sections(REPO / "docs" / "command-line.md")
    assert server.ready.keys() <= set(list_inline_code(reference["serve"]))
    document = server.ask("/openapi.json").json["components"]["schemas"]
    named = set(list_inline_code(PAGE + reference["predict"]))
    fields = document["Answer"]["properties"].keys() | document["Digit"]["properties"].keys()
    assert fields - named == set()


def run_line(command: list[str] | str, folder: Path) -> str:
    done = subprocess.run(
        command, shell=isinstance(command, str), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_shows_every_way_to_ask() -> None:
    assert len(BLOCKS) == 3
    assert len(CURL) == 4


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("line", CURL)
def test_a_line_of_curl_is_answered(line: str, server: Server, folder: Path) -> None:
    said = run_line(line.replace("localhost:8700", f"localhost:{server.ready['port']}"), folder)
    if "/metrics" in line:
        assert "\nensemble_images_total " in said
    else:
        assert said.startswith('{"run_id":"' + server.ready["run_id"])
        assert said.count('"named_votes"') == (4 if "images.npy" in line else 3)
        assert ('"rejected"' in said) == ("rejection=false" not in line)


def test_the_program_prints_what_is_answered(server: Server, folder: Path) -> None:
    program = PROGRAM.replace("localhost:8700", f"localhost:{server.ready['port']}")
    lines = run_line([sys.executable, "-I", "-c", program], folder).splitlines()
    digits = server.predict(IMAGES[:4])["digits"]
    expected = [f"{d['name']} {max(d['probabilities'])} {d['named_votes']} {d['set']}" for d in digits]
    assert [re.sub(r"\d\.\d+", "", line) for line in lines] == [re.sub(r"\d\.\d+", "", line) for line in expected]
