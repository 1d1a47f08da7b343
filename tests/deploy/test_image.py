"""The image and what starts it: deploy/Dockerfile, .dockerignore and deploy/compose.yaml."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from streamlit import config

REPO = Path(__file__).resolve().parents[2]
DEPLOY = REPO / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
# Instructions with their lines joined, as Docker joins them; comments left out.
TEXT = re.sub(r"^#.*\n", "", DOCKERFILE.read_text("utf-8"), flags=re.M).replace("\\\n", "")
RUN_STAGE = TEXT.rpartition("\nFROM ")[2]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
STREAMLIT = {option.env_var for option in config._config_options_template.values()}


def instruction(word: str) -> str:
    """What follows the last of this instruction in the stage that is run."""
    return re.findall(rf"^{word} (.*)$", RUN_STAGE, re.M)[-1]


def test_hadolint_has_nothing_to_say_and_no_rule_is_switched_off() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    switches = ["--no-color", "--disable-ignore-pragma", "--failure-threshold", "style"]
    command = [str(hadolint), *switches, str(DOCKERFILE)]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nobody_with_a_name_runs_it_and_it_is_told_itself_when_to_stop() -> None:
    user, group = instruction("USER").split(":")
    assert int(user) >= 10_000  # no number that a machine gives to one of its own
    assert int(group) == 0  # OpenShift's, whatever the number of the user
    assert json.loads(instruction("ENTRYPOINT"))[:3] == ["ensemble", "app", "--share"]
    made = re.search(r"install -d -o (\d+) -g 0 -m 0770 (.*)", RUN_STAGE)
    assert made
    assert made.groups() == (user, " ".join(json.loads(instruction("VOLUME"))))


def test_each_card_that_it_can_be_built_for_is_an_extra_of_jax() -> None:
    from importlib.metadata import metadata

    extras = set(metadata("jax").get_all("Provides-Extra") or ())
    named = re.search(r"cpu\) .*?;; +([\w |]+)\) cards", TEXT)
    assert named
    built = {word.strip() for word in named.group(1).split("|")}
    assert built == {"cuda12", "cuda13"}
    assert built <= extras


class Health(BaseHTTPRequestHandler):
    """A server under /ensemble, or one that is not well."""

    well = True

    def do_GET(self) -> None:
        right = self.well and self.path == "/ensemble/_stcore/health"
        self.send_response(200 if right else 503)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        pass


class Unwell(Health):
    well = False


@pytest.fixture
def answering(request: pytest.FixtureRequest) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), request.param) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def health(port: int, base: str) -> int:
    """What the image's own check says of a server: its exit status."""
    words = json.loads(instruction("HEALTHCHECK").partition(" CMD ")[2])
    given = {
        "STREAMLIT_SERVER_PORT": str(port),
        "STREAMLIT_SERVER_BASE_URL_PATH": base,
        # As on a machine behind a proxy, which knows nothing of this server.
        "http_proxy": "http://127.0.0.1:9",
    }
    done = subprocess.run([sys.executable, *words[1:]], env=given, capture_output=True, timeout=240)
    return done.returncode


@pytest.mark.parametrize(
    ("answering", "base", "well"),
    [(Health, "ensemble", True), (Health, "/ensemble/", True), (Health, "", False), (Unwell, "ensemble", False)],
    indirect=["answering"],
)
def test_its_check_finds_the_server_under_its_path_and_says_when_it_is_not_well(
    answering: int, base: str, well: bool
) -> None:
    assert (health(answering, base) == 0) is well


def test_only_what_the_package_is_built_from_can_enter_it() -> None:
    lines = (REPO / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        "pyproject.toml",
        "requirements.txt",
        project["project"]["readme"],
        *project["project"]["license-files"],
        *wheel["packages"],
        *wheel["force-include"],
    }
    assert {rule[1:] for rule in rules if rule.startswith("!")} - {".streamlit"} == needed
    # Of that folder the settings alone, which hold no secret.
    folder = rules.index("!.streamlit")
    assert rules[folder : folder + 3] == ["!.streamlit", ".streamlit/*", "!.streamlit/config.toml"]


@pytest.mark.parametrize("name", ["app", "cuda"])
def test_a_service_may_write_where_it_has_to_and_do_nothing_else(name: str) -> None:
    service = SERVICES[name]
    assert service["user"] == instruction("USER")
    assert service["read_only"] is True
    assert [mount.partition(":")[0] for mount in service["tmpfs"]] == ["/tmp"]
    mounts = dict(reversed(volume.split(":")) for volume in service["volumes"])
    assert set(mounts) == set(json.loads(instruction("VOLUME")))
    assert set(mounts.values()) == set(COMPOSE["volumes"])
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["ports"][0].endswith(f":{instruction('EXPOSE')}")


@pytest.mark.parametrize("name", ["app", "cuda"])
def test_a_service_stops_and_comes_back_with_its_runs(name: str) -> None:
    service = SERVICES[name]
    assert int(service["stop_grace_period"].removesuffix("s")) >= 60
    # Another host's silence counts as its death after a minute only: see ensemble/jobs/status.py.
    assert service["hostname"]
    assert service["init"] is True
    assert {"HEALTHCHECK", "ENTRYPOINT"} <= set(re.findall(r"^[A-Z]+", RUN_STAGE, re.M))
    assert "ENSEMBLE_STOP_WITH_SERVER=1" in instruction("ENV")


def test_without_a_word_on_who_may_come_in_nobody_is_let_in() -> None:
    for service in SERVICES.values():
        given = service["environment"]
        assert given["ENSEMBLE_ALLOW"] == "${ENSEMBLE_ALLOW:-}"
        assert given["ENSEMBLE_OPEN"] == "${ENSEMBLE_OPEN:-}"
        (secret,) = service["secrets"]
        assert given["STREAMLIT_SECRETS_FILES"] == f"/run/secrets/{secret}"
        assert secret.endswith(".toml")  # Streamlit reads no other
        assert "environment" not in COMPOSE["secrets"][secret]


def test_cards_are_asked_for_by_the_service_that_is_built_for_them() -> None:
    def cards(service: dict[str, Any]) -> list[dict[str, Any]]:
        resources = service.get("deploy", {}).get("resources", {})
        return resources.get("reservations", {}).get("devices", [])

    built = {name: service["build"]["args"]["JAX"] for name, service in SERVICES.items()}
    assert built == {"app": "cpu", "cuda": "${JAX:-cuda13}"}
    assert cards(SERVICES["app"]) == []
    assert cards(SERVICES["cuda"]) == [{"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}]
    for service in SERVICES.values():
        build = service["build"]
        assert (DEPLOY / build["context"]).resolve() == REPO
        assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DOCKERFILE


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_a_setting_of_streamlits_is_one_that_it_has(file: Path) -> None:
    assert set(re.findall(r"\bSTREAMLIT_[A-Z_]+", file.read_text("utf-8"))) <= STREAMLIT
