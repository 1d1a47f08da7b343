"""A server that others could reach begins only where it knows who comes."""

import pytest

from ensemble.access.exposure import Sharing, Start, is_loopback, settle
from ensemble.errors import ConfigError

WHOLE = {"provider": True, "missing": ""}
HEADER = {"header": "X-Forwarded-Email", "headers": True}
NAMED = {"hosts": ("localhost", "ensemble.example.org")}
LISTED = {"ENSEMBLE_ALLOW": "@example.org"}
OPEN = {"ENSEMBLE_OPEN": "1"}


@pytest.mark.parametrize(
    ("address", "alone"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("unix:///run/ensemble.sock", True),
        ("", False),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.2", False),
        ("localhost.example.org", False),
        ("myhost", False),
        ("0", False),
    ],
)
def test_only_loopback_is_this_machine_alone(address: str, alone: bool) -> None:
    assert is_loopback(address) is alone


def env(monkeypatch: pytest.MonkeyPatch, values: dict[str, str]) -> None:
    for name in ("ALLOW", "ALLOW_FILE", "OPEN", "SHARE"):
        monkeypatch.delenv(f"ENSEMBLE_{name}", raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("values", "start", "sharing"),
    [
        ({}, Start("localhost"), Sharing.ALONE),
        ({"ENSEMBLE_SHARE": "0"}, Start("localhost"), Sharing.ALONE),
        ({}, Start("::1", hosts=("localhost", "127.0.0.1", "[::1]", "a.localhost")), Sharing.ALONE),
        (LISTED, Start("localhost", **WHOLE, **NAMED), Sharing.SIGN_IN),
        (OPEN, Start("localhost", **NAMED), Sharing.OPEN),
        (LISTED, Start("localhost", **WHOLE), Sharing.SIGN_IN),
        (LISTED, Start("0.0.0.0", **WHOLE), Sharing.SIGN_IN),
        (OPEN, Start("0.0.0.0"), Sharing.OPEN),
        (OPEN | {"ENSEMBLE_ALLOW": "*=member"}, Start("0.0.0.0", **HEADER), Sharing.PROXY),
        (OPEN | LISTED, Start("localhost", **WHOLE), Sharing.SIGN_IN),
    ],
)
def test_how_a_server_knows_who_comes(
    values: dict[str, str], start: Start, sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    env(monkeypatch, values)
    assert settle(start) is sharing


@pytest.mark.parametrize(
    ("values", "start", "said"),
    [
        ({}, Start(""), "a provider and ENSEMBLE_ALLOW"),
        ({}, Start("0.0.0.0"), "--server.address localhost"),
        ({"ENSEMBLE_OPEN": "yes"}, Start("0.0.0.0"), "ENSEMBLE_OPEN=1"),
        ({"ENSEMBLE_SHARE": "1"}, Start("localhost"), "a provider and ENSEMBLE_ALLOW"),
        ({"ENSEMBLE_SHARE": "yes"}, Start("localhost"), "a provider and ENSEMBLE_ALLOW"),
        # As behind a proxy on the same machine, which lets everybody through.
        ({}, Start("localhost", **NAMED), "take ensemble.example.org out of server.allowedHosts"),
        ({}, Start("127.0.0.1", hosts=("localhost", "*")), "take \\* out of server.allowedHosts"),
        (LISTED, Start("localhost"), "lacks a provider"),
        ({}, Start("localhost", **WHOLE), "lacks ENSEMBLE_ALLOW"),
        ({}, Start("0.0.0.0", **WHOLE), "lacks ENSEMBLE_ALLOW"),
        (LISTED, Start("0.0.0.0", provider=True, missing="client_id"), "lacks client_id"),
        ({"ENSEMBLE_ALLOW": "*"}, Start("0.0.0.0", **WHOLE), "everybody who has an account"),
        ({"ENSEMBLE_ALLOW": "ann"}, Start("localhost"), "neither an address"),
        (LISTED, Start("localhost", **WHOLE, **HEADER), "believed only with ENSEMBLE_OPEN=1"),
        ({}, Start("localhost", **HEADER), "believed only with ENSEMBLE_OPEN=1"),
        (OPEN, Start("0.0.0.0", **HEADER), "ENSEMBLE_ALLOW"),
        (OPEN | LISTED, Start("0.0.0.0"), "nothing tells who comes"),
        (OPEN | LISTED, Start("0.0.0.0", headers=True), "called email"),
    ],
)
def test_a_server_that_would_not_know_who_comes_is_not_started(
    values: dict[str, str], start: Start, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env(monkeypatch, values)
    with pytest.raises(ConfigError, match=said) as raised:
        settle(start)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)
