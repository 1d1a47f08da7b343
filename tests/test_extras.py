"""A plain install does without the packages of the extras, and names one where it is missing."""

import ast
import sys

import pytest

from ensemble.access.server_access import AccessMode
from ensemble.cluster.settings import SlurmConfig
from ensemble.cluster.slurm_submission import check_slurm_config
from ensemble.errors import ConfigError
from ensemble.extras import CLUSTER_PACKAGES, EXPORT, SHARE_PACKAGES, describe_missing_packages
from ensemble.ui.sign_in import startup_check, visitors
from tests.conftest import REPO


def test_slurm_without_its_package_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(ConfigError) as refused:
        check_slurm_config(SlurmConfig())
    assert str(refused.value) == (
        "Handing tasks to Slurm takes the package submitit, which is not installed here: "
        "pip install submitit (the extra “cluster”)."
    )


def test_a_shared_server_without_its_packages_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(visitors, "start_identification", lambda: AccessMode.SIGN_IN)
    for name in SHARE_PACKAGES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit) as ended:
        startup_check.check_server_start()
    assert ended.value.code == ConfigError.exit_code
    assert capsys.readouterr().err == (
        "Error: Signing in takes the packages authlib and httpx, which are not installed here: "
        "pip install authlib httpx (the extra “share”).\n"
    )


def test_what_is_there_is_not_named() -> None:
    assert describe_missing_packages("It", ("json",), EXPORT) == ""


def test_no_module_needs_these_packages_to_be_imported() -> None:
    """Only functions import them; for those of `export`, tests/test_repo.py says who may."""
    packages = (*CLUSTER_PACKAGES, *SHARE_PACKAGES)
    texts = {path: path.read_text("utf-8") for path in (REPO / "ensemble").rglob("*.py")}
    naming = {path: text for path, text in texts.items() if any(one in text for one in packages)}
    needing = [
        path.relative_to(REPO).as_posix()
        for path, text in naming.items()
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or "", *(one.name for one in node.names)]
        if name.partition(".")[0] in packages
    ]
    assert naming
    assert needing == []
