"""A report's members answer in the browser as in JAX, and a person's drawing reaches them."""

import gzip
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from playwright.sync_api import Page, expect

from ensemble import datasets, runs
from ensemble.analysis.quality.conformal import METHODS, fit_conformal_threshold
from ensemble.analysis.quality.coverage import MISS_RATE
from ensemble.architectures import BUILTIN_NETWORK_NAMES
from ensemble.engine import compute_activations
from ensemble.engine.networks.registry import build_network
from ensemble.exchange import capsule
from ensemble.exchange.capsule.capsule_format import EXACT, ROUNDED, WEIGHTS
from ensemble.pictures.segmentation.mnist_form import convert_to_mnist
from ensemble.recognition.class_subspaces import compute_free_energy
from ensemble.report import page_classifier, write_report
from ensemble.report.page_classifier import PageRejection
from ensemble.runs.parameters import write_parameters
from ensemble.views.conformal import format_image_set
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.wording.formats import format_probability
from tests.browser.conftest import FLAGS
from tests.browser.find import find_browser
from tests.browser.page_members import GREY_PIXELS, ask_page_members, open_report
from tests.browser.serving import Server
from tests.conftest import variant
from tests.pages.ensembles import trained

TOLERANCE = 1e-4  # of logits
FEW = 64  # images that are asked about without --all
# Narrow, so that a whole test set takes seconds; the variant asks the HOWTO's own.
WIDTHS = {"cnn": 8, "mlp": 40, "resnet": 4, "resnet_groupnorm": 4}
SPREAD = {"logistic": 5}  # times larger the last layer becomes, that logits be as large as learnt ones
INK = """(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  return [width, height, Array.from(data.filter((_, at) => at % 4 === 3))];
}"""
SEVEN = ((0.2, 0.15), (0.4, 0.14), (0.6, 0.13), (0.8, 0.15), (0.7, 0.4), (0.55, 0.65), (0.4, 0.9))


@pytest.fixture(scope="module")
def quick(tab: Page) -> Iterator[Page]:
    """A tab of a browser that optimizes what it runs, as people's do."""
    assert tab.context.browser
    launched = tab.context.browser.browser_type.launch(executable_path=find_browser(), args=FLAGS)
    page = launched.new_page()
    page.set_default_timeout(60_000)
    yield page
    launched.close()


class AskedReport(NamedTuple):
    """A report with members, and its runs."""

    path: Path
    every: list[runs.Run]


@pytest.fixture(scope="module")
def asked_report(server: Server, tmp_path_factory: pytest.TempPathFactory) -> AskedReport:
    """A report of two runs, of which the first is shown, for all tests that leave it as it is."""
    path = tmp_path_factory.mktemp("asked") / "report.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(server.runs))
        every = [with_members("logistic"), with_members("mlp", members=3, width=40)]
        write_report([run.id for run in every], path, with_members=True)
    return AskedReport(path, every)


def with_members(network: str, *, members: int = 2, width: int = 0) -> runs.Run:
    """A run of one epoch whose members have weights as large as learnt ones, and statistics."""
    run = trained(members=members, epochs=1, network=network, width=width)
    module = build_network(run.config)
    keys = jax.random.split(jax.random.key(7), members)
    params = vary(jax.device_get(jax.vmap(module.init)(keys)), np.random.default_rng(0))
    last = max(name for name in params if name.startswith("Dense_"))
    params[last]["kernel"] = SPREAD.get(network, 10) * params[last]["kernel"]
    write_parameters(run.path, 1, params, 1)
    return run


def vary(params: Any, rng: np.random.Generator) -> Any:
    """The tree with biases, scales and statistics that are not all the same."""

    def change(path: Any, leaf: NDArray[np.float32]) -> NDArray[np.float32]:
        noise = rng.standard_normal(leaf.shape).astype(np.float32)
        name = path[-1].key
        if name in ("var", "scale"):
            return np.exp(0.3 * noise)
        return leaf + 0.1 * noise if name in ("bias", "mean") else leaf

    return jax.tree_util.tree_map_with_path(change, params)


def compute_logits(run: runs.Run, images: NDArray[np.uint8]) -> NDArray[np.float32]:
    members = runs.open_members(run.id, 1)
    logits: NDArray[np.float32] = compute_activations(members.network, members.params, images).logits
    return logits


@pytest.mark.parametrize(
    ("weights", "networks"),
    [
        # Of the rest each layer is in one of these as well, but the statistics of batches.
        (EXACT, ("lenet5", "resnet_groupnorm")),
        (ROUNDED, ("mlp",)),
        variant(EXACT, BUILTIN_NETWORK_NAMES),
        variant(ROUNDED, BUILTIN_NETWORK_NAMES),
    ],
    ids=["exact", "rounded", "all exact", "all rounded"],
)
def test_members_of_every_network_say_in_a_browser_what_they_say_in_jax(
    quick: Page, tmp_path: Path, weights: str, networks: Sequence[str], pytestconfig: pytest.Config
) -> None:
    count = None if pytestconfig.getoption("--all") else FEW
    images = datasets.load_dataset("digits").test_images[:count]
    every = [with_members(name, width=WIDTHS.get(name, 0)) for name in networks]
    path = tmp_path / "report.html"
    write_report([run.id for run in every], path, with_members=True, weights=weights)
    open_report(quick, path)
    asked = every if weights == EXACT else import_rounded(path)
    for run, same in zip(every, asked, strict=True):
        logits = compute_logits(same, images)
        assert np.abs(logits).max() > 2, "they are no smaller than learnt ones"
        said = ask_page_members(quick, run.id, images).logits
        assert np.abs(said - logits).max() < TOLERANCE, run.config.network


def import_rounded(path: Path) -> list[runs.Run]:
    """The runs of a report whose weights are rounded, imported: their members are so, too."""
    imported = [capsule.import_capsule(one) for one in capsule.read_report_capsules(path)]
    assert {run.weights for run in imported} == {ROUNDED}
    return imported


@pytest.mark.variant
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_howtos_network_says_in_a_browser_what_it_says_in_jax_of_mnist(
    quick: Page, tmp_path: Path, weights: str, mnist_files: Path
) -> None:
    packed = gzip.decompress((mnist_files / "t10k-images-idx3-ubyte.gz").read_bytes())
    images = np.frombuffer(packed, np.uint8, 500 * 28 * 28, 16).reshape(500, 28, 28, 1)
    run, path = with_members("cnn"), tmp_path / "report.html"
    write_report([run.id], path, with_members=True, weights=weights)
    open_report(quick, path)
    said = ask_page_members(quick, run.id, images).logits
    (same,) = [run] if weights == EXACT else import_rounded(path)
    assert np.abs(said - compute_logits(same, images)).max() < TOLERANCE


def draw(page: Page, points: tuple[tuple[float, float], ...], lift: bool = True) -> None:
    """A stroke through points, shares of the sheet's sides; the pen may stay on the sheet."""
    sheet = page.locator("#try-sheet")
    sheet.scroll_into_view_if_needed()
    box = sheet.bounding_box()
    assert box
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place)
    if lift:
        page.mouse.up()


def test_a_drawing_is_prepared_as_on_classify_and_every_member_answers(quick: Page, tmp_path: Path) -> None:
    run, path = with_members("lenet5", members=3), tmp_path / "report.html"
    write_report([run.id], path, with_members=True)
    asked, said = list[str](), list[str]()
    quick.on("request", lambda request: asked.append(request.url))
    quick.on("console", lambda message: said.append(message.text))
    quick.on("pageerror", lambda error: said.append(str(error)))
    open_report(quick, path)
    quick.wait_for_selector("html[data-state=drawn]")
    assert not quick.workers, "members are unpacked when they are first asked"
    draw(quick, SEVEN, lift=False)
    expect(quick.locator("#try-answer")).to_contain_text(" with ")  # while the pen is down
    quick.mouse.up()
    expect(quick.locator("html")).to_have_attribute("data-asked", "")
    wide, high, ink = quick.locator("#try-sheet").evaluate(INK)
    seen = np.array(quick.locator("#try-seen").evaluate(GREY_PIXELS), np.uint8).reshape(28, 28, 1)
    wanted = convert_to_mnist(np.array(ink, np.uint8).reshape(high, wide))
    apart = np.abs(seen.astype(int) - wanted)
    assert apart.max() <= 24, "a cell of the bench on the edge of ink may fall to either side"
    assert apart.mean() < 0.2
    shares = runs.open_members(run.id, 1).predict_probabilities(seen[None])[:, 0]
    best = int(shares.mean(axis=0).argmax())
    sure = format_probability(float(shares.mean(axis=0)[best]))
    expect(quick.locator("#try-answer")).to_have_text(f"{best} with {sure}.")
    captions = quick.locator("#try-members figcaption").all_text_contents()
    votes = shares.argmax(axis=1)
    assert captions == [f"member {m + 1}: {vote}" for m, vote in enumerate(votes)]
    averaged = shares.mean(axis=0, keepdims=True)
    fitted = evaluate_epoch(run).predictions
    sets = fit_conformal_threshold(fitted.averaged, fitted.labels, MISS_RATE, METHODS[0])
    names = run.data.class_names
    listed = format_image_set(sets.build_sets(averaged)[0], MISS_RATE, names)
    expect(quick.locator("#try-set")).to_contain_text(f"Short list: {listed}.")
    quick.get_by_role("button", name="Clear").click()
    expect(quick.locator("#try-answer")).to_have_text("")
    assert [url for url in asked if not url.startswith("blob:")] == [path.as_uri()]
    assert said == []


def test_the_sheet_takes_keys_and_pictures(quick: Page, asked_report: AskedReport, tmp_path: Path) -> None:
    open_report(quick, asked_report.path)
    sheet, answer = quick.locator("#try-sheet"), quick.locator("#try-answer")
    sheet.focus()
    quick.keyboard.press("Space")
    for _ in range(20):
        quick.keyboard.press("ArrowDown")
    quick.keyboard.press("Space")
    expect(answer).to_contain_text(" with ")
    quick.keyboard.press("Delete")
    expect(answer).to_have_text("")
    image = datasets.load_dataset("digits").test_images[3]
    Image.fromarray(image[..., 0]).save(tmp_path / "digit.png")
    quick.locator("#try-file").set_input_files(tmp_path / "digit.png")
    expect(answer).to_contain_text(" with ")
    expect(quick.locator("html")).to_have_attribute("data-asked", "")
    seen = np.array(quick.locator("#try-seen").evaluate(GREY_PIXELS), np.uint8)
    assert np.array_equal(seen, image.reshape(-1)), "what has the networks' form stays as it is"
    spoken = quick.locator("#try-spoken")
    expect(spoken).to_contain_text(" with ")
    Image.new("RGBA", (90, 90)).save(tmp_path / "blank.png")
    quick.locator("#try-file").set_input_files(tmp_path / "blank.png")
    expect(spoken).to_have_text("There is no digit to be seen on it.")
    drawn = Image.new("RGBA", (90, 90))
    ImageDraw.Draw(drawn).line([(25, 20), (65, 20), (40, 75)], "white", 8)
    drawn.save(tmp_path / "seven_white_on_clear.png")
    quick.locator("#try-file").set_input_files(tmp_path / "seven_white_on_clear.png")
    expect(answer).to_contain_text(" with ")
    expect(spoken).to_contain_text(" with ")
    (tmp_path / "none.png").write_bytes(b"no picture")
    quick.locator("#try-file").set_input_files(tmp_path / "none.png")
    expect(answer).to_contain_text("no picture that the browser can open")
    expect(spoken).to_contain_text("no picture that the browser can open")


def test_what_the_members_energy_rejects_is_called_none_of_the_classes(
    quick: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, path = with_members("logistic"), tmp_path / "report.html"
    images = datasets.load_dataset("digits").test_images[:2]
    energies = compute_free_energy(compute_logits(run, images))
    between = PageRejection("energy", float(energies.mean()), "Not a digit", "By its energy.")
    monkeypatch.setattr(page_classifier, "find_page_rejection", lambda *_: between)
    write_report([run.id], path, with_members=True)
    open_report(quick, path)
    for image, energy in zip(images, energies, strict=True):
        Image.fromarray(image[..., 0]).save(tmp_path / "digit.png")
        quick.get_by_role("button", name="Clear").evaluate("(button) => button.click()")
        quick.locator("#try-file").set_input_files(tmp_path / "digit.png")
        rejected = energy > between.threshold
        answer = re.compile(r"^Not a digit\.$" if rejected else r"^\d with ")
        expect(quick.locator("#try-answer")).to_have_text(answer)
        says = "The likeliest is" if rejected else "Short list"
        expect(quick.locator("#try-set")).to_contain_text(says)


def test_members_that_were_cut_short_are_said_to_be_so(quick: Page, asked_report: AskedReport, tmp_path: Path) -> None:
    page, path = asked_report.path.read_text("utf-8"), tmp_path / "report.html"
    data, _ = re.findall(r"<script [^>]*data-run=[^>]*>([^<]*)</script>", page)
    path.write_text(page.replace(data, data[: 4 * (len(data) // 8)]), "utf-8")
    open_report(quick, path)
    draw(quick, SEVEN)
    expect(quick.locator("#try-problem")).to_contain_text("cannot be unpacked: save or send it")
    expect(quick.locator("#try-body")).to_be_hidden()


def test_another_run_of_the_report_answers_when_it_is_chosen(quick: Page, asked_report: AskedReport) -> None:
    open_report(quick, asked_report.path)
    for place, run in enumerate(asked_report.every):
        quick.locator("#try-run").select_option(str(place))
        draw(quick, SEVEN)
        expect(quick.locator("#try-answer")).to_contain_text(" with ")
        expect(quick.locator("#try-members figure")).to_have_count(run.config.members)
        expect(quick.locator("html")).to_have_attribute("data-asked", "")
        seen = np.array(quick.locator("#try-seen").evaluate(GREY_PIXELS), np.uint8).reshape(1, 28, 28, 1)
        shares = runs.open_members(run.id, 1).predict_probabilities(seen)[:, 0].mean(axis=0)
        sure = format_probability(float(shares.max()))
        expect(quick.locator("#try-answer")).to_have_text(f"{shares.argmax()} with {sure}.")


def test_axe_finds_nothing_on_the_sheet_and_its_answer(quick: Page, asked_report: AskedReport) -> None:
    assert quick.context.browser
    page = quick.context.browser.new_page(bypass_csp=True)  # axe is a script of its own
    open_report(page, asked_report.path)
    draw(page, SEVEN)
    expect(page.locator("#try-answer")).to_contain_text(" with ")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert Axe().run(page, context=".try").response["violations"] == []
    page.close()


@pytest.mark.parametrize("missing", ["Worker", "DecompressionStream"])
def test_a_browser_without_what_it_takes_says_so(quick: Page, asked_report: AskedReport, missing: str) -> None:
    other = quick.context.browser
    assert other
    page = other.new_page()
    page.add_init_script(f"delete window.{missing}")
    page.goto(asked_report.path.as_uri())
    expect(page.locator("#try-problem")).to_contain_text("cannot answer in this browser")
    expect(page.locator("#try-body")).to_be_hidden()
    page.close()
