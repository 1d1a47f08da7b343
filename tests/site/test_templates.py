"""What the place that hosts the repository reads: workflows, templates, pages for people."""

from pathlib import Path

import pytest
import yaml

from tests.documents import REPO, list_inline_code, list_links

HOST = REPO / ".github"
WORKFLOWS = sorted((HOST / "workflows").glob("*.yml"))
PAGES = sorted(HOST.rglob("*.md"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_makes_one_call_of_a_script_and_may_only_read(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    (call,) = [step["run"] for step in job["steps"] if "run" in step]
    script = REPO / call.split()[0]
    assert script.parent == REPO / "scripts"
    assert script.is_file()
    assert all(step["uses"].startswith("actions/") for step in job["steps"] if "uses" in step)


def test_every_commit_is_tested_by_the_script_that_a_person_runs() -> None:
    calls = [step.get("run") for step in read_workflow("tests")["jobs"]["test"]["steps"]]
    assert "scripts/test" in calls


def read_workflow(name: str) -> dict[str, dict[str, dict[str, list[dict[str, str]]]]]:
    """One workflow by its file's name."""
    text = (HOST / "workflows" / f"{name}.yml").read_text("utf-8")
    found: dict[str, dict[str, dict[str, list[dict[str, str]]]]] = yaml.safe_load(text)
    return found


@pytest.mark.parametrize("name", ["bug", "wish"])
def test_a_form_for_issues_asks_something_that_has_to_be_answered(name: str) -> None:
    form = yaml.safe_load((HOST / "ISSUE_TEMPLATE" / f"{name}.yml").read_text("utf-8"))
    assert {"name", "description", "body"} <= set(form)
    asked = {field["id"]: field for field in form["body"]}
    assert len(asked) == len(form["body"])
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_every_link_of_these_pages_leads_somewhere() -> None:
    assert {page.stem for page in PAGES} >= {"SECURITY", "CODE_OF_CONDUCT"}
    every = [(page, link) for page in PAGES for link in list_links(page.read_text("utf-8"))]
    assert every
    assert [link for page, link in every if not (page.parent / link).exists()] == []


def test_every_file_that_these_pages_name_is_there() -> None:
    spans = [span for page in PAGES for span in list_inline_code(page.read_text("utf-8"))]
    named = [span for span in spans if "/" in span or span.endswith(".md")]
    assert named
    assert [name for name in named if not (REPO / name).exists()] == []
