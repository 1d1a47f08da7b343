"""The app under a sub-path behind a real nginx, with the site that `deploy/` has."""

import base64
import http.client
import json
import re
import ssl
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from ensemble import runs
from ensemble.runs.checkpoints.folders import find_last_tick
from tests.browser.conftest import App
from tests.browser.nginx import REPO, nginx
from tests.browser.serving import OF_THE_CLONE, Server, serving
from tests.browser.test_classify import paper, said
from tests.browser.test_train import PATIENCE, launch, set_up
from tests.browser.traffic import Traffic
from tests.workers import wait_until

UNDER = "/ensemble"
SERVING = REPO / "docs" / "serving.md"
WHO = (
    "X-Forwarded-Email",
    "X-Forwarded-User",
    "X-Forwarded-Preferred-Username",
    "X-Forwarded-Groups",
    "X-Auth-Request-Email",
    "X-Auth-Request-User",
    "Remote-Email",
    "Remote-User",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as a browser finds it, which is at the proxy."""
    program = (*OF_THE_CLONE, f"--server.baseUrlPath={UNDER.strip('/')}")
    folder = tmp_path_factory.mktemp("proxied")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("ENSEMBLE_STOP_WITH_SERVER", "1")
        behind = stack.enter_context(serving(folder, program, path=UNDER))
        before = stack.enter_context(nginx(int(urlsplit(behind.url).port or 0)))
        yield replace(behind, url=before + UNDER)


@pytest.fixture
def visit(page: Page, server: Server) -> Iterator[App]:
    """A tab of a browser that takes a certificate nobody vouches for."""
    browser = page.context.browser
    assert browser
    with closing(browser.new_context(ignore_https_errors=True)) as context:
        tab = context.new_page()
        yield App(tab, server, Traffic(tab))


def test_a_visit_never_leaves_the_path_that_the_app_is_under(visit: App) -> None:
    asked: list[str] = []
    sockets: list[str] = []
    refused: list[str] = []
    page, url = visit.page, visit.server.url
    page.on("request", lambda one: asked.append(one.url))
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.on("response", lambda one: refused.append(one.url) if one.status >= 400 else None)

    visit.open()
    assert page.url == f"{url}/train"
    run_id = launch(visit, members="2", epochs="2")
    assert page.url.startswith(f"{url}/train?")
    expect(page.get_by_text("Finished").first).to_be_visible(timeout=PATIENCE)
    assert runs.find_run(run_id).state == "finished"
    tile = page.locator(".disputed a").first
    assert tile.evaluate("link => link.href").startswith(f"{url}/predictions?run={run_id}")

    visit.open("classify", run=run_id)
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        [{"name": "number.png", "mimeType": "image/png", "buffer": paper(0, 1)}]
    )
    expect(said(page)).to_have_count(2, timeout=PATIENCE)
    expect(page.locator(".picture img")).to_have_js_property("complete", True)
    visit.settle()

    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_url(re.compile(rf"^{re.escape(url)}/runs"))
    visit.settle()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download 1 run (CSV)").click()
    assert run_id in saved.value.path().read_text("utf-8")

    page.goto(f"{url}/no-such-page")
    visit.rest()
    fetched = [one for one in asked if one.startswith("http")]
    assert [one for one in fetched if not one.startswith(f"{url}/")] == []
    assert {one for one in sockets if one != f"wss{url[5:]}/_stcore/stream"} == set()
    # Streamlit's page asks at each level of its address which one the app is under.
    assert [one for one in refused if not one.endswith(("/health", "/host-config"))] == []


def answer(
    url: str, path: str, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """What nginx says, whoever signed its certificate."""
    at = urlsplit(url)
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("localhost", at.port, context=context, timeout=10)
    with closing(connection):
        connection.request(method, path, headers=headers or {})
        found = connection.getresponse()
        return found.status, found.headers, found.read()


def test_the_path_without_its_slash_leads_to_the_app_and_nothing_lies_beside_it(server: Server) -> None:
    status, headers, _ = answer(server.url, f"{UNDER}?run=digits")
    assert (status, headers["Location"]) == (301, f"{server.url}/?run=digits")
    assert answer(server.url, f"{UNDER}/_stcore/health")[::2] == (200, b"ok")
    assert answer(server.url, "/_stcore/health")[0] == 404
    # The app's own word on what browsers may do comes through.
    assert "frame-ancestors 'self'" in answer(server.url, f"{UNDER}/")[1]["Content-Security-Policy"]


def test_what_the_app_takes_nginx_lets_through_and_hardly_more(server: Server) -> None:
    config = tomllib.loads((REPO / ".streamlit" / "config.toml").read_text("utf-8"))
    most = config["server"]["maxUploadSize"] << 20
    path = f"{UNDER}/_stcore/upload_file/none/none"
    for size, refused in ((most + (1 << 20), False), (most + (16 << 20), True)):
        status, _, _ = answer(server.url, path, "PUT", {"Content-Length": str(size), "Expect": "100-continue"})
        assert (status == 413) is refused, size


class Echo(BaseHTTPRequestHandler):
    """Says what headers it was sent."""

    def do_GET(self) -> None:
        body = json.dumps({name: self.headers.get_all(name) for name in self.headers}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "_streamlit_user=ann; Path=/ensemble; HttpOnly")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture(scope="module")
def echo() -> Iterator[int]:
    """The port of what stands in for the app."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_browser_cannot_say_who_it_is_nor_where_it_comes_from(echo: int) -> None:
    said = dict.fromkeys(WHO, "admin@example.org") | {
        "X-Forwarded-For": "10.0.0.1",
        "X-Forwarded-Proto": "http",
        "X-Forwarded-Host": "evil",
        "x_forwarded_email": "admin@example.org",
    }
    with nginx(echo) as url:
        told = {name.lower(): value for name, value in json.loads(answer(url, f"{UNDER}/", headers=said)[2]).items()}
    assert "admin@example.org" not in str(told)
    assert told["x-forwarded-for"] == ["127.0.0.1"]
    assert told["x-forwarded-proto"] == ["https"]
    # With its port: the app takes a page's WebSocket only where this is the page's own origin.
    assert told["x-forwarded-host"] == told["host"] == [urlsplit(url).netloc]


def test_a_run_at_work_stops_with_a_checkpoint_when_its_server_is_told_to_end(visit: App) -> None:
    set_up(visit, members="2", epochs="1,000")
    before = set(visit.server.runs.glob("digits-*"))
    visit.page.locator(".st-key-launch button").click()
    visit.page.wait_for_url(lambda url: not any(old.name in url for old in before))
    (folder,) = set(visit.server.runs.glob("digits-*")) - before
    wait_until(runs.find_run(folder.name), lambda run: run.status.step > 0)
    visit.server.process.terminate()  # with a tab that is connected to it
    visit.server.process.wait(60)
    run = runs.find_run(folder.name)
    assert run.state == "stopped"
    assert 0 < run.status.step < run.status.steps
    assert find_last_tick(folder)


def test_no_cookie_travels_without_tls(echo: int) -> None:
    with nginx(echo) as url:
        (cookie,) = answer(url, f"{UNDER}/")[1].get_all("Set-Cookie") or ()
    assert cookie.lower() == "_streamlit_user=ann; path=/ensemble; httponly; secure"


def test_nginx_says_who_comes_once_it_asks_for_a_password(echo: int, tmp_path: Path) -> None:
    (block,) = re.findall(r"```nginx\n(auth_basic .*?)```", SERVING.read_text("utf-8"), re.S)
    users = tmp_path / "users"
    users.write_text("ann@example.org:{PLAIN}right\n")
    asking = block.replace("/etc/nginx/ensemble.users", "users")
    word = base64.b64encode(b"ann@example.org:right").decode()
    with nginx(echo, {'proxy_set_header X-Forwarded-Email "";\n': asking}, [users]) as url:
        said = {"X-Forwarded-Email": "admin@example.org"}
        assert answer(url, f"{UNDER}/", headers=said)[0] == 401
        wrong = base64.b64encode(b"admin@example.org:wrong").decode()
        assert answer(url, f"{UNDER}/", headers={"Authorization": f"Basic {wrong}"})[0] == 401
        status, _, body = answer(url, f"{UNDER}/", headers={**said, "Authorization": f"Basic {word}"})
    told = {name.lower(): value for name, value in json.loads(body).items()}
    assert (status, told["x-forwarded-email"]) == (200, ["ann@example.org"])
    assert "authorization" not in told, "the app has no use for the password"
