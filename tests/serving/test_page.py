"""What docs/take_it_away.md says of serving; its lines are sent in tests/services/test_served_ensemble.py."""

import re

from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from tests.documents import REPO, list_inline_code, read_sections
from tests.serving.in_process import Server

PAGE = (REPO / "docs" / "take_it_away.md").read_text("utf-8").partition("## Ask it over HTTP")[2]
BLOCKS = re.findall(r"^```(bash|python)\n(.*?)^```$", PAGE, re.S | re.M)
CURL = [line for _, block in BLOCKS for line in block.splitlines() if line.startswith("curl")]
(PROGRAM,) = [block for language, block in BLOCKS if language == "python"]


def test_every_field_is_documented(server: Server) -> None:
    reference = read_sections(REPO / "docs" / "command-line.md")
    assert server.ready.keys() <= set(list_inline_code(reference["serve"]))
    document = server.ask("/openapi.json").json["components"]["schemas"]
    named = set(list_inline_code(PAGE + reference["predict"])) | set(EXAMPLE_MEASURES)
    fields = document["Answer"]["properties"].keys() | document["Digit"]["properties"].keys()
    assert fields - named == set()


def test_the_page_shows_every_way_to_ask() -> None:
    assert len(BLOCKS) == 3
    assert len(CURL) == 4
