"""Values at the edge of what an option takes: refused before anything is opened."""

import json
import time

import pytest
from click.testing import CliRunner, Result

from ensemble.access import Action, Person, Role, audit_log
from ensemble.cli.program import main
from ensemble.cli.results.audit import TimeSpanType

ANN = Person("ann@example.org", Role.MEMBER)


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize(
    ("share", "code"), [("0", 2), ("-0.1", 2), ("1", 2), ("1.5", 2), ("1e-9", 1), ("0.999", 1)]
)
def test_neither_none_nor_all_can_be_refused(share: str, code: int) -> None:
    done = call("predict", "no-run", "a.png", "--refuse", share)
    assert done.exit_code == code
    assert ("range 0<x<1" in done.stderr) == (code == 2)
    assert ("There is no run" in done.stderr) == (code == 1), "so far it got"


@pytest.mark.parametrize(("word", "code"), [("-1", 2), ("0", 1), ("3", 1)])
def test_an_epoch_is_counted_from_the_beginning(word: str, code: int) -> None:
    assert call("predict", "no-run", "a.png", "--epoch", word).exit_code == code


@pytest.mark.parametrize(
    ("span", "seconds"),
    [("30m", 1_800), ("12h", 43_200), ("2d", 172_800), ("1w", 604_800), (" 0m ", 0)],
)
def test_a_span_is_in_minutes_hours_days_or_weeks(span: str, seconds: float) -> None:
    assert TimeSpanType().convert(span, None, None) == seconds


@pytest.mark.parametrize("span", ["", "1", "w", "1y", "1.5h", "-1d", "1w2d", "1234567m"])
def test_what_is_no_span_is_said(span: str) -> None:
    done = call("audit", "--since", span)
    assert done.exit_code == 2
    assert "write 30m, 12h, 2d or 1w" in done.stderr


def test_of_a_week_there_is_what_is_not_older(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    for days, subject in ((8, "old"), (6, "new"), (0, "now")):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda days=days: now - days * 86_400)
            audit_log.write_audit_entry(Action.LAUNCH, subject, ANN)

    def said(*words: str) -> list[str]:
        return [
            json.loads(line)["subject"]
            for line in call("audit", "--json", *words).stdout.splitlines()
        ]

    assert said() == ["old", "new", "now"]
    assert said("--since", "1w") == said("--since", "7d") == ["new", "now"]
    assert said("--since", "1h") == ["now"]
