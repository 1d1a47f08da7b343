"""Who is on the list and as what, also by an address that only looks like another."""

import os
from pathlib import Path

import pytest

from ensemble.access import Role, allow_list, visitor_claims
from ensemble.access.allow_list import normalize_address, parse_allow_list
from ensemble.errors import ConfigError

LIST = "ann@example.org=admin, @example.org=viewer,*@uni.edu, bob@Bücher.de=VIEWER"
NOW = 1_800_000_000.0
GOOD = {"email": "Ann@Example.org", "email_verified": True, "iat": NOW - 60, "sub": "1"}


@pytest.mark.parametrize(
    ("address", "role"),
    [
        ("ann@example.org", Role.ADMIN),
        ("ANN@EXAMPLE.ORG", Role.ADMIN),
        ("eve@example.org", Role.VIEWER),
        ("x@uni.edu", Role.MEMBER),
        ("bob@bücher.de", Role.VIEWER),
        ("bob@xn--bcher-kva.de", Role.VIEWER),
        # No subdomain, no longer name, nothing behind or before it.
        ("eve@sub.example.org", Role.NOBODY),
        ("eve@example.org.evil.net", Role.NOBODY),
        ("eve@notexample.org", Role.NOBODY),
        ("eve@evil.net@example.org", Role.NOBODY),
        ("eve@example.org\n", Role.VIEWER),
        ("eve@example.org\nx@evil.net", Role.NOBODY),
        ("eve@example.org.", Role.NOBODY),
        ("@example.org", Role.NOBODY),
        ("", Role.NOBODY),
        ('"eve@evil.net"@example.org', Role.NOBODY),
        ("eve <e@example.org>", Role.NOBODY),
        # Letters of other scripts, and such as become plain ones when they are simplified.
        ("eve@\u0435\u0445ample.org", Role.NOBODY),
        ("eve@\uff45xample.org", Role.NOBODY),
        ("\u0430nn@example.org", Role.NOBODY),
        ("eve@example\u3002org", Role.NOBODY),
        ("eve@ex\u00adample.org", Role.NOBODY),
        ("x@uni.edu\u200b", Role.NOBODY),
        ("a" * 65 + "@example.org", Role.NOBODY),
        ("a@" + "b." * 126 + "org", Role.NOBODY),
    ],
)
def test_exactly_who_is_named_comes_in(address: str, role: Role) -> None:
    assert parse_allow_list(LIST).role_of(address) is role


def test_no_list_lets_nobody_in() -> None:
    for empty in ("", " , ,\n# nobody yet\n"):
        assert not parse_allow_list(empty)
        assert parse_allow_list(empty).role_of("ann@example.org") is Role.NOBODY


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ann@example.org=boss", "has an unknown role"),
        ("ann", "neither an address nor a domain"),
        ("@", "neither"),
        ("*@*", "neither"),
        ("example.org", "neither"),
        ("@exa mple.org", "neither"),
        ("a@x.org=viewer,A@X.org=admin", "two roles"),
        ("*@=admin", "neither"),
    ],
)
def test_an_entry_that_is_amiss_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_allow_list(text)


def test_whoever_is_taken_off_the_file_is_nobody_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "people"
    file.write_text("# who may\nann@example.org=admin\neve@example.org\n")
    monkeypatch.setenv("ENSEMBLE_ALLOW", "")
    monkeypatch.setenv("ENSEMBLE_ALLOW_FILE", str(file))
    assert allow_list.load_allow_list().role_of("eve@example.org") is Role.MEMBER
    file.write_text("ann@example.org=admin\n")
    os.utime(file, (1, 1))  # within one tick of the disk's clock, too
    assert allow_list.load_allow_list().role_of("eve@example.org") is Role.NOBODY
    file.unlink()
    visit = visitor_claims.identify_visitor(GOOD, NOW)
    assert not visit.is_admitted
    assert "cannot be read" in visit.refusal


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_ALLOW", LIST)


@pytest.mark.usefixtures("listed")
def test_who_signed_in_is_who_the_list_says() -> None:
    visit = visitor_claims.identify_visitor(GOOD, NOW)
    assert visit.is_admitted
    assert (visit.person.name, visit.person.role) == ("ann@example.org", Role.ADMIN)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"email_verified": False}, "does not confirm"),
        ({"email_verified": "true"}, "does not confirm"),
        ({"email_verified": None}, "does not confirm"),
        ({"email_verified": 1}, "does not confirm"),
        ({"email": "ann@evil.net"}, "is not allowed to sign in"),
        ({"email": ["ann@example.org"]}, "did not send"),
        ({"email": None}, "did not send"),
        ({"iat": None}, "again"),
        ({"iat": True}, "again"),
        ({"iat": NOW - 12 * 3600}, "again"),
        ({"iat": NOW + 3600}, "again"),
        ({"iat": float("nan")}, "again"),
        ({"iat": "0"}, "again"),
    ],
)
def test_whoever_is_not_surely_that_is_nobody(wrong: dict[str, object], said: str) -> None:
    visit = visitor_claims.identify_visitor({**GOOD, **wrong}, NOW)
    assert not visit.is_admitted
    assert said in visit.refusal


def test_a_visitor_without_claims_is_told_nothing() -> None:
    assert visitor_claims.identify_visitor({}, NOW) == visitor_claims.Visit()


@pytest.mark.parametrize("hours", ["0", "-1", "nan", "inf", "721", "soon"])
def test_hours_out_of_range_are_refused(hours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_SIGN_IN_HOURS", hours)
    with pytest.raises(ConfigError, match="ENSEMBLE_SIGN_IN_HOURS"):
        visitor_claims.read_sign_in_seconds()


def test_an_address_has_one_form() -> None:
    assert normalize_address(" Ann.B+c@Bücher.DE ") == "ann.b+c@xn--bcher-kva.de"


def test_a_letter_that_becomes_a_plain_one_when_it_is_made_small_is_another() -> None:
    assert "\u212a".lower() == "k", "the sign of Kelvin"
    assert parse_allow_list("@kaggle.com").role_of("eve@\u212aaggle.com") is Role.NOBODY
    assert parse_allow_list("@kaggle.com").role_of("ann@KAGGLE.com") is Role.MEMBER
    with pytest.raises(ConfigError, match="neither an address nor a domain"):
        parse_allow_list("@\u212aaggle.com=admin")


def test_a_file_that_is_too_long_is_not_read_to_where_it_would_be_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "people"
    entry = "\n@example.org=viewer\n"
    file.write_text("#" * (allow_list.MAX_LIST_BYTES - len("\n@example.org")) + entry)
    monkeypatch.setenv("ENSEMBLE_ALLOW_FILE", str(file))
    with pytest.raises(ConfigError, match="longer than 1,000,000 bytes"):
        allow_list.load_allow_list()  # cut there, all of the domain would be members
