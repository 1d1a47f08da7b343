"""A sweep whose trials learn in no time, and the screen Tune as a test opens it."""

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

from ensemble import sweeps
from ensemble.sweeps.worker import work_on_sweep
from ensemble.ui.jobs.job_screen import forget_jobs
from tests.pages.predictions_screen import opened
from tests.sweeps.light import light_config

Searched = Callable[..., sweeps.Sweep]


def searched(**changes: Any) -> sweeps.Sweep:
    """A sweep with these settings and all its trials, done in this process."""
    return work_on_sweep(sweeps.create_sweep(light_config(**changes)).id)


def tuned(**address: object) -> AppTest:
    """Opens Tune with these words in the address."""
    forget_jobs()
    return opened(page="tune", **address)


def charts(at: AppTest) -> list[dict[str, Any]]:
    """What the curves, and the parallel coordinates, are given."""
    return [json.loads(json.loads(one.proto.json)["chart"]) for one in at.get("bidi_component")]


def said(at: AppTest) -> str:
    """All that is said in text."""
    kinds = (*at.markdown, *at.subheader, *at.caption, *at.warning, *at.info, *at.error)
    return " ".join(one.value for one in kinds)


def labels(at: AppTest) -> list[str]:
    """Of the buttons."""
    return [one.label for one in at.button]


def figures(at: AppTest) -> dict[str, str]:
    """What the metrics say, by their labels."""
    return {one.label: one.value for one in at.metric}
