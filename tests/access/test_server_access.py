"""A server that others could reach begins only where it knows who comes."""

import pytest

from ensemble.access.server_access import AccessMode, ServerStart, determine_access_mode, is_loopback_address
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
    assert is_loopback_address(address) is alone


def env(monkeypatch: pytest.MonkeyPatch, values: dict[str, str]) -> None:
    for name in ("ALLOW", "ALLOW_FILE", "OPEN", "SHARE"):
        monkeypatch.delenv(f"ENSEMBLE_{name}", raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("values", "start", "sharing"),
    [
        ({}, ServerStart("localhost"), AccessMode.ALONE),
        ({"ENSEMBLE_SHARE": "0"}, ServerStart("localhost"), AccessMode.ALONE),
        ({}, ServerStart("::1", hosts=("localhost", "127.0.0.1", "[::1]", "a.localhost")), AccessMode.ALONE),
        (LISTED, ServerStart("localhost", **WHOLE, **NAMED), AccessMode.SIGN_IN),
        (OPEN, ServerStart("localhost", **NAMED), AccessMode.OPEN),
        (LISTED, ServerStart("localhost", **WHOLE), AccessMode.SIGN_IN),
        (LISTED, ServerStart("0.0.0.0", **WHOLE), AccessMode.SIGN_IN),
        (OPEN, ServerStart("0.0.0.0"), AccessMode.OPEN),
        (OPEN | {"ENSEMBLE_ALLOW": "*=member"}, ServerStart("0.0.0.0", **HEADER), AccessMode.PROXY),
        (OPEN | LISTED, ServerStart("localhost", **WHOLE), AccessMode.SIGN_IN),
    ],
)
def test_how_a_server_knows_who_comes(
    values: dict[str, str], start: ServerStart, sharing: AccessMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    env(monkeypatch, values)
    assert determine_access_mode(start) is sharing


@pytest.mark.parametrize(
    ("values", "start", "said"),
    [
        ({}, ServerStart(""), "a provider and ENSEMBLE_ALLOW"),
        ({}, ServerStart("0.0.0.0"), "--server.address localhost"),
        ({"ENSEMBLE_OPEN": "yes"}, ServerStart("0.0.0.0"), "ENSEMBLE_OPEN=1"),
        ({"ENSEMBLE_SHARE": "1"}, ServerStart("localhost"), "a provider and ENSEMBLE_ALLOW"),
        ({"ENSEMBLE_SHARE": "yes"}, ServerStart("localhost"), "a provider and ENSEMBLE_ALLOW"),
        # As behind a proxy on the same machine, which lets everybody through.
        ({}, ServerStart("localhost", **NAMED), "take ensemble.example.org out of server.allowedHosts"),
        ({}, ServerStart("127.0.0.1", hosts=("localhost", "*")), "take \\* out of server.allowedHosts"),
        (LISTED, ServerStart("localhost"), "lacks a provider"),
        ({}, ServerStart("localhost", **WHOLE), "lacks ENSEMBLE_ALLOW"),
        ({}, ServerStart("0.0.0.0", **WHOLE), "lacks ENSEMBLE_ALLOW"),
        (LISTED, ServerStart("0.0.0.0", provider=True, missing="client_id"), "lacks client_id"),
        ({"ENSEMBLE_ALLOW": "*"}, ServerStart("0.0.0.0", **WHOLE), "admit anybody with any account"),
        ({"ENSEMBLE_ALLOW": "ann"}, ServerStart("localhost"), "neither an address"),
        (LISTED, ServerStart("localhost", **WHOLE, **HEADER), "trusted only with ENSEMBLE_OPEN=1"),
        ({}, ServerStart("localhost", **HEADER), "trusted only with ENSEMBLE_OPEN=1"),
        (OPEN, ServerStart("0.0.0.0", **HEADER), "ENSEMBLE_ALLOW"),
        (OPEN | LISTED, ServerStart("0.0.0.0"), "nothing identifies visitors"),
        (OPEN | LISTED, ServerStart("0.0.0.0", headers=True), "called email"),
    ],
)
def test_a_server_that_would_not_know_who_comes_is_not_started(
    values: dict[str, str], start: ServerStart, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env(monkeypatch, values)
    with pytest.raises(ConfigError, match=said) as raised:
        determine_access_mode(start)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)
