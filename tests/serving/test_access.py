"""Who gets an answer: by the name that they ask by, the page that they come from, and a token."""

import os
import stat
from pathlib import Path

import pytest

from ensemble.errors import ConfigError
from ensemble.runs import Run
from ensemble.serving.request_guard import TOKEN_VARIABLE, RequestGuard, build_request_guard, read_host_name
from tests.serving.in_process import Server, start_server, write_npy
from tests.serving.test_predictions import IMAGES

TOKEN = "a-token-that-nobody-guesses"
BODY = write_npy(IMAGES[:1])
PATHS = ("/", "/metrics", "/openapi.json", "/predict", "/nowhere")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:1234", 200),
        ("LOCALHOST.", 200),
        ("127.0.0.1:80", 200),
        ("[::1]:80", 200),
        ("app.localhost", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("user@evil.example", 400),
        ("[", 400),
        ("", 400),
    ],
)
def test_only_this_machines_names_are_answered(server: Server, host: str, status: int) -> None:
    for path in PATHS[:3]:
        assert server.ask(path, Host=host).status == status, path
    assert server.ask("/health", Host=host).json == {"status": "ok"}


def test_another_sites_page_gets_nothing(server: Server) -> None:
    for origin in ("https://evil.example", "null", "http://localhost:1", "http://[", ""):
        answer = server.ask("/predict", BODY, "application/x-npy", Origin=origin)
        assert answer.status == 403, origin
        assert not [name for name in answer.headers if name.startswith("access-control")]
    own = "localhost:8700"
    answer = server.ask("/predict", BODY, "application/x-npy", Host=own, Origin=f"http://{own}")
    assert answer.status == 200
    asked = server.ask("/predict", method="OPTIONS", Access_Control_Request_Method="POST")
    assert not [name for name in asked.headers if name.startswith("access-control")]


def test_a_server_that_others_reach_asks_for_its_token(served_run: Run) -> None:
    with start_server(served_run, "--host", "0.0.0.0") as server:
        token = server.ready["token"]
        assert len(token) > 40
        assert server.ready["members"] == 3
        assert token not in server.log
        wrong: list[str | None] = [None, "", TOKEN, "Bearer", "Bearer é", f"Basic {token}"]
        wrong += [f"Bearer {one}" for one in (TOKEN, f"{token}x", token[:-1])]
        for path in PATHS:
            for sent in wrong:
                headers = {} if sent is None else {"Authorization": sent}
                answer = server.ask(path, None if path != "/predict" else BODY, **headers)
                assert answer.status == 401, (path, sent)
                assert answer.headers["www-authenticate"] == "Bearer"
                assert token not in answer.body.decode()
        right = {"Authorization": f"Bearer {token}"}
        found = server.ask("/predict", BODY, "application/x-npy", **right)
        assert found.status == 200
        assert [len(digit["votes"]) for digit in found.json["digits"]] == [3]
        # By whatever name: whoever has the token was told where to ask.
        assert server.ask("/", Host="models.example", **right).status == 200
        document = server.ask("/openapi.json", **right).json
        assert document["security"] == [{"token": []}]
        assert document["paths"]["/health"]["get"]["security"] == []
        assert server.ask("/health").json == {"status": "ok"}


@pytest.mark.parametrize(
    ("address", "hosts", "needed"),
    [
        ("localhost", (), False),
        ("127.0.0.1", ("app.localhost",), False),
        ("::1", (), False),
        ("localhost", ("models.example",), True),
        ("0.0.0.0", (), True),
        ("::", (), True),
        ("192.168.1.5", (), True),
        ("", (), True),
        ("models.example", (), True),
    ],
)
def test_a_token_is_made_where_others_come(
    address: str, hosts: tuple[str, ...], needed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    guard, made = build_request_guard(address, hosts, None)
    assert made == bool(guard.token) == needed
    if made:
        assert guard.token != build_request_guard(address, hosts, None)[0].token
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert build_request_guard(address, hosts, None) == (RequestGuard(TOKEN, hosts), False)


def test_a_token_file_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "another-token-of-some-length")
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert build_request_guard("localhost", (), file)[0].token == TOKEN


@pytest.mark.parametrize("content", ["short", "x" * 600, "two words of a sentence", "ü" * 20, ""])
def test_a_token_that_is_none_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(content)
    with pytest.raises(ConfigError) as error:
        build_request_guard("localhost", (), file)
    assert str(error.value).endswith(".")
    assert content not in str(error.value) or not content


def test_a_token_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    for name in ("gone", "pipe", "."):
        with pytest.raises(ConfigError, match="cannot be read"):
            build_request_guard("localhost", (), tmp_path / name)


def test_names_are_those_that_were_allowed() -> None:
    guard = RequestGuard(TOKEN, ("models.example",))
    assert guard.is_host_allowed(read_host_name("models.example:8700"))
    assert guard.is_host_allowed(read_host_name("localhost"))
    for host in ("evil.example", "models.example.evil", "", "models.example@evil"):
        assert not guard.is_host_allowed(read_host_name(host))
    assert not RequestGuard("").is_host_allowed("models.example")
