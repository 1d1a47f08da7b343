"""Where a capsule lies in a report: one `<script>` element a run, which no browser runs.

Its text is base64, so that nothing of what people have written stands there as HTML; its media
type is none that a browser knows.
"""

import base64
import binascii
import hashlib
import html
import re
from typing import NamedTuple

from ensemble.errors import PredictionsError
from ensemble.exchange.capsule.capsule_format import MEDIA_TYPE, MOST_CAPSULES, VERSION

_OPENING_TAG = re.compile(rb'<script\s[^<>]{0,1000}?type="' + re.escape(MEDIA_TYPE).encode() + rb'"[^<>]{0,1000}>')
_ATTRIBUTE = re.compile(rb'data-(\w+)="([^"<>]*)"')
_CLOSING_TAG = b"</script>"
SAVE_AGAIN = "save or send it again"


class _CapsuleElement(NamedTuple):
    """What stands in one element: the run's id as it is said there, and the capsule's bytes."""

    run_id: str
    payload: bytes


def render_capsule_element(run_id: str, payload: bytes) -> str:
    digest = hashlib.sha256(payload).hexdigest()
    return (
        f'<script type="{MEDIA_TYPE}" data-version="{VERSION}" data-run="{html.escape(run_id)}" '
        f'data-bytes="{len(payload)}" data-sha256="{digest}">'
        f"{base64.b64encode(payload).decode()}</script>"
    )


def is_web_page(start: bytes) -> bool:
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def find_capsule_elements(page: bytes) -> list[_CapsuleElement]:
    """The capsules in a web page, each as long as it says it is and with its own checksum.

    Raises:
      PredictionsError: there is none; or one is cut short, changed or of a later version.
    """
    elements, at = list[_CapsuleElement](), 0
    while opening := _OPENING_TAG.search(page, at):
        end = page.find(_CLOSING_TAG, opening.end())
        if end < 0:
            raise PredictionsError(f"it ends within the data of a run: {SAVE_AGAIN}.")
        if len(elements) == MOST_CAPSULES:
            raise PredictionsError(f"it holds more than {MOST_CAPSULES} runs: write fewer into one file.")
        attributes = {key.decode(): value.decode("utf-8", "replace") for key, value in _ATTRIBUTE.findall(opening[0])}
        elements.append(_decode_capsule_element(attributes, page[opening.end() : end]))
        at = end
    if not elements:
        raise PredictionsError(
            "it is a web page without the data of a run: choose a complete report written by "
            "`ensemble report` or “Save report”."
        )
    return elements


def _decode_capsule_element(attributes: dict[str, str], text: bytes) -> _CapsuleElement:
    check_capsule_version(attributes.get("version", ""))
    try:
        payload = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise PredictionsError(f"the data of a run in it is damaged: {SAVE_AGAIN}.") from error
    if attributes.get("bytes") != str(len(payload)):
        raise PredictionsError(f"the data of a run in it is truncated: {SAVE_AGAIN}.")
    if attributes.get("sha256") != hashlib.sha256(payload).hexdigest():
        raise PredictionsError(f"the data of a run in it is damaged, its checksum does not match: {SAVE_AGAIN}.")
    return _CapsuleElement(attributes.get("run", ""), payload)


def check_capsule_version(version_text: str) -> None:
    """Refuse what is of a form that this version does not know; PredictionsError."""
    if version_text == str(VERSION):
        return
    if version_text.isascii() and version_text.isdigit() and len(version_text) < 10 and int(version_text) > VERSION:
        raise PredictionsError(
            f"its data has form {int(version_text)}, but this version reads form {VERSION}: update "
            "this program, then import it again."
        )
    raise PredictionsError(f"it does not name the form of its data: {SAVE_AGAIN}.")
