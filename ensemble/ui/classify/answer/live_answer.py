"""What the members say while the pen moves: they answer in the browser, and ask the server nothing.

The scripts are those of a report that classifies. The sheet tells this answer of each change, see
`js/channel.js`; more than one digit, and more about the answer, the server is asked for.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from ensemble import runs
from ensemble.report import page_assets
from ensemble.report.template import WORKER_SCRIPTS
from ensemble.ui.classify.answer.classified_mark import read_rejection_allowance
from ensemble.ui.classify.input import live_members
from ensemble.ui.classify.input.live_members import LiveMembers
from ensemble.wording.formats import format_count

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

KEY = "classify_live"
_ANSWER_SCRIPTS = ("member_answer.js", "member_worker.js")
_PANEL_SCRIPTS = ("channel.js", "live.js")
_INTRODUCTION = (
    "Draw one digit as large as the sheet allows: {} in your browser while you draw. Several side "
    "by side are read by the server when the pen rests."
)
_ROUNDED_NOTE = " Their weights are rounded to float16 on the way here."
HTML = """
<div class="live" hidden>
  <div class="intro" id="try-intro"><h3>What does it say?</h3><p id="try-introduction"></p></div>
  <div class="said" id="try-said" hidden>
    <button type="button" id="try-explain"
      title="Preprocessing, evidence, alternatives and like images: asked of the server">
      Explain this answer
    </button>
    {answer}
    <p class="note seen" id="try-seen-line" hidden><canvas id="try-seen" role="img"
      aria-label="The image that the members get"></canvas>What the members get</p>
  </div>
</div>
"""


def show_live_answer(run: runs.Run, members: LiveMembers, classifier: Classifier | None) -> None:
    rejection = live_members.build_live_rejection(run, classifier, read_rejection_allowance())
    who = f"{format_count(len(members.classifier.members), 'member')} answer"
    _create_live_component()(
        data={
            "classifier": members.classifier.as_json() | {"rejection": rejection},
            "address": live_members.serve_live_members(members),
            "introduction": _INTRODUCTION.format(who) + (_ROUNDED_NOTE if members.rounded else ""),
        },
        key=KEY,
    )


@functools.cache
def _create_live_component() -> Any:
    """The component, registered once: the report's scripts, and what joins them with the sheet."""
    folder = Path(__file__).parents[1] / "js"
    style = page_assets.read_static_file("answer.css")
    answer = page_assets.read_static_file("answer.html")
    worker = json.dumps(page_assets.join_scripts(WORKER_SCRIPTS))
    return st.components.v2.component(
        "ensemble_live_answer",
        html=HTML.format(answer=answer),
        css=f"{style}\n{(folder / 'live.css').read_text('utf-8')}",
        js="\n".join(
            [
                page_assets.join_scripts(_ANSWER_SCRIPTS),
                f"const WORKER_SCRIPT = {worker}",
                *((folder / name).read_text("utf-8") for name in _PANEL_SCRIPTS),
            ]
        ),
    )
