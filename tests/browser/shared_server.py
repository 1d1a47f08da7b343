"""A server that people sign in to, with a real provider of OpenID Connect beside it."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection

from tests.browser.serving import OF_THE_CLONE, START_SECONDS, Server, serving

SECRET = "not a secret but as long as one is to be"
PEOPLE = {
    "member": {"email": "Ann@example.org", "email_verified": True},
    "viewer": {"email": "eve@example.org", "email_verified": True},
    "of another domain": {"email": "ann@example.org.evil.net", "email_verified": True},
    "unverified": {"email": "ann@example.org", "email_verified": False},
    "leaving": {"email": "bob@example.org", "email_verified": True},
}


@contextmanager
def provider() -> Iterator[str]:
    """A provider of OpenID Connect, a process of its own; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    people = [f"--user-claims={json.dumps({'sub': sub, **said})}" for sub, said in PEOPLE.items()]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "-p", str(port), *people]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://localhost:{port}/.well-known/openid-configuration"
    try:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urllib.request.urlopen(url, timeout=5):
                    break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)


@contextmanager
def serving_people(folder: Path, people: Path) -> Iterator[Server]:
    """A server in `folder` that those on the list `people` sign in to."""
    secrets = folder / "secrets.toml"
    with provider() as url, pytest.MonkeyPatch.context() as patch:
        secrets.write_text(
            f'[auth]\nredirect_uri = "http://localhost:{{port}}/oauth2callback"\n'
            f'cookie_secret = "{SECRET}"\nclient_id = "ensemble"\nclient_secret = "secret"\n'
            f'server_metadata_url = "{url}"\n'
        )
        patch.setenv("ENSEMBLE_ALLOW_FILE", str(people))
        with serving(folder, (*OF_THE_CLONE, f"--secrets.files={secrets}")) as started:
            yield started


def draw_page(tab: ClientConnection, page: str, press: str = "") -> list[ForwardMsg]:
    """What a page becomes in a tab without a browser, once that button of it is pressed."""
    tab.send(build_request(page, press))
    messages: list[ForwardMsg] = []
    while not messages or messages[-1].WhichOneof("type") != "script_finished":
        messages.append(ForwardMsg.FromString(tab.recv(timeout=START_SECONDS)))
    return messages


def build_request(page: str, press: str = "") -> bytes:
    """What a tab says to have a page drawn."""
    message = BackMsg()
    message.rerun_script.page_name = page
    if press:
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = press, True
    return message.SerializeToString()
