"""However the server is started: it ends before it answers where it would not know who comes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from ensemble.access import Role, current_person, set_person_source
from ensemble.access.server_access import SHARE_VARIABLE, AccessMode
from ensemble.cli.app import build_server_options
from ensemble.ui.sign_in import provider, startup_check, visitors

REPO = Path(__file__).resolve().parents[3]
WHOLE = {
    "redirect_uri": "https://ensemble.example.org/oauth2callback",
    "cookie_secret": "k" * 32,
    "client_id": "a",
    "client_secret": "b",
    "server_metadata_url": "https://x/.well-known/y",
}


def test_a_server_that_others_reach_is_refused_in_a_sentence_without_sign_in(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            str(REPO / "app.py"),
            "--server.port=0",
            "--server.headless=true",
            "--server.address=0.0.0.0",
        ],
        cwd=REPO,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Error: This server does not start" in done.stderr
    assert "docs/serving.md" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ((), ("--server.address=0.0.0.0", "--server.headless=true")),
        (("--server.address", "localhost"), ("--server.headless=true",)),
        (("--server.address=::1",), ("--server.headless=true",)),
    ],
)
def test_a_shared_server_listens_where_it_is_told_to(
    options: tuple[str, ...], added: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STREAMLIT_SERVER_ADDRESS", raising=False)
    assert build_server_options(options) == added


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, ""),
        ({"client_id": ""}, "client_id"),
        ({"cookie_secret": "xxx"}, "at least 32"),
        ({"cookie_secret": ""}, "cookie_secret"),
        ({"redirect_uri": ""}, "redirect_uri"),
        ({"redirect_uri": "https://ensemble.example.org/"}, "such as https"),
        ({"redirect_uri": "ensemble.example.org/oauth2callback"}, "such as https"),
        ({"redirect_uri": "http://[/oauth2callback"}, "such as https"),
        ({"redirect_uri": "http://localhost:{port}/oauth2callback"}, ""),
        ({"client_id": "", "okta": dict.fromkeys(provider.REQUIRED_KEYS, "x")}, ""),
    ],
)
def test_what_a_provider_still_needs_is_named_and_no_secret_with_it(
    wrong: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "read_auth_section", lambda: {**WHOLE, **wrong})
    missing = provider.describe_missing_auth_settings()
    assert said in missing
    assert bool(missing) == bool(said)
    assert "xxx" not in missing


def test_a_broken_file_of_secrets_is_not_taken_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "secrets.toml"
    file.write_text("[auth\n")
    before = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: [str(file)] if name == "secrets.files" else before(name))
    assert provider.has_auth_settings()
    assert provider.describe_missing_auth_settings() == provider.UNREADABLE_SECRETS


def test_a_shared_server_answers_to_its_name_and_asks_who_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "read_auth_section", lambda: WHOLE)
    monkeypatch.setattr(visitors._IdentityState, "sharing", AccessMode.ALONE)
    monkeypatch.setattr(visitors._IdentityState, "begun", False)
    monkeypatch.setenv(SHARE_VARIABLE, "1")
    monkeypatch.setenv("ENSEMBLE_ALLOW", "@example.org")
    hosts = st.get_option(startup_check.ALLOWED_HOSTS_OPTION)
    try:
        startup_check.check_server_start()
        assert visitors.get_sharing_mode() is AccessMode.SIGN_IN
        assert current_person().role is Role.NOBODY, "nobody has signed in here"
        assert "ensemble.example.org" in st.get_option(startup_check.ALLOWED_HOSTS_OPTION)
    finally:
        config.set_option(startup_check.ALLOWED_HOSTS_OPTION, hosts)
        set_person_source(None)


def test_a_page_alone_is_not_drawn_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `streamlit run pages/runs.py --server.address 0.0.0.0` would have it."""
    before, address = st.get_option, "0.0.0.0"
    monkeypatch.setattr(visitors._IdentityState, "begun", False)
    monkeypatch.setattr(st, "get_option", lambda name: address if name == "server.address" else before(name))
    page = AppTest.from_file(str(REPO / "pages" / "runs.py"), default_timeout=240).run()
    assert [one.value[:12] for one in page.error] == ["A page alone"]
    assert not page.title
    assert not page.button
    address = "localhost"
    assert startup_check.describe_page_refusal() == ""
