"""Runs, Free space: checkpoints of finished runs are removed at a press, and brought back."""

from streamlit.testing.v1 import AppTest

from ensemble.runs.parameters import write_parameters
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained
from tests.pages.test_runs import APP


def test_checkpoints_of_finished_runs_are_removed_brought_back_and_freed() -> None:
    loaders.forget_runs()
    run, stopped = trained(name="done"), trained(state="stopped", done=1)
    for folder in (run.path, stopped.path):
        (folder / "checkpoints" / "22").mkdir(parents=True)
        (folder / "checkpoints" / "22" / "arrays").write_bytes(bytes(3_000_000))
    for epoch in (1, 2):
        write_parameters(run.path, epoch, {"kernel": [[0.0]] * 3}, None)
    at = AppTest.from_file(str(APP), default_timeout=240)
    at.switch_page("pages/runs.py").run()
    at.button(key="free_space_open").click().run()
    assert not at.exception
    assert any("3.0 MB in checkpoints of 1 finished run" in one.value for one in at.markdown)
    at.button(key="free_space_remove").click().run()
    assert not (run.path / "checkpoints").exists()
    assert (stopped.path / "checkpoints").is_dir()
    assert any("3.0 MB of 1 run were removed and can" in one.value for one in at.markdown)
    at.button(key="free_space_undo").click().run()
    assert (run.path / "checkpoints" / "22" / "arrays").stat().st_size == 3_000_000
    at.button(key="free_space_remove").click().run()
    at.button(key="free_space_now").click().run()
    assert not at.exception
    assert not (run.path / "removed_checkpoints").exists()
    assert any("No finished run has checkpoints" in one.value for one in at.info)
