"""The files that commands of the documents name, small and real, as a reader would have them."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from ensemble import datasets
from ensemble.datasets.decisions.decision_log import open_decision_log
from ensemble.datasets.decisions.label_decision import RELABEL, LabelDecision, checksum_image
from ensemble.datasets.own.pools.label_pool import find_label_pool
from ensemble.datasets.own.pools.pool_batches import find_pool_arms
from ensemble.datasets.own.pools.pool_labels import build_pool_decision, open_pool_log
from tests import whole_way

CODE = re.compile(r"^ *```(python|toml)\n(.*?)^ *```", re.S | re.M)
OUTPUT_COMMANDS = ("export", "report")
NETWORK_PAGE = "bring_your_own.md"
# Files that a page says in full, by a word of theirs.
WRITTEN_OUT = {
    "class Leaves(nn.Module)": "my_networks.py",
    "networks = [": "ensemble.toml",
    "cookie_secret": ".streamlit/secrets.toml",
}


def write_pictures(folder: Path) -> None:
    """Pictures with classes, `leaves`, and others of the same kind without, `new`."""
    whole_way.write(folder / "leaves", train=36, test=6)
    images, _ = whole_way.drawn(8, seed=5)
    (folder / "new").mkdir()
    for number, image in enumerate(images):
        Image.fromarray(image).save(folder / "new" / f"{number:03}.png")


def write_page_files(page: Path, folder: Path) -> None:
    """What a page has its reader write before its commands."""
    pages = {page, page.parent / NETWORK_PAGE} if page.parent.name == "docs" else {page}
    for path in sorted(pages):
        for _, code in CODE.findall(path.read_text("utf-8")):
            for word, name in WRITTEN_OUT.items():
                if word in code and (path == page or name == "my_networks.py"):
                    (folder / name).parent.mkdir(exist_ok=True)
                    text = re.sub("^   ", "", code, flags=re.M)
                    text = text.replace('cookie_secret = "…"', f'cookie_secret = "{"0a" * 32}"')
                    (folder / name).write_text(text, "utf-8")
                    (folder / name).chmod(0o600)


def list_needed_jobs(words: list[str]) -> list[str]:
    """The datasets that a command takes as there."""
    if "mnist" in words:
        return ["mnist files" if words[0] == "data" else "mnist"]
    adds = words[:2] == ["data", "add"]
    return ["leaves dataset"] if "leaves" in words and not adds else []


def write_missing_files(words: list[str]) -> None:
    """Make the files that a command reads, where nobody has made them before."""
    if words[0] in OUTPUT_COMMANDS:
        return
    for word in words:
        if word in WRITERS and not (path := Path(word)).exists():
            WRITERS[word](path)


def write_number_picture(path: Path) -> None:
    """A test digit of scikit-learn's, dark on light paper, as a photograph would have it."""
    image = 255 - datasets.load_dataset("digits").test_images[0, ..., 0]
    canvas = np.full((160, 160), 235, np.uint8)
    digit = Image.fromarray(image).resize((96, 96), Image.Resampling.BICUBIC)
    canvas[32:128, 32:128] = np.asarray(digit).clip(0, 235)
    Image.fromarray(canvas).convert("RGB").save(path)


def write_photo_folder(path: Path) -> None:
    """Forty such pictures."""
    path.mkdir()
    for number, image in enumerate(datasets.load_dataset("digits").test_images[:40, ..., 0]):
        Image.fromarray(image).save(path / f"{number:02}.png")


def write_image_array(path: Path) -> None:
    """Test digits (5, height, width, 1), from 0 to 255."""
    np.save(path, datasets.load_dataset("digits").test_images[:5])


def draw_probabilities(members: int = 3, examples: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """(members, examples, 3) and the labels (examples,)."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, examples)
    drawn = rng.dirichlet(np.ones(3), (members, examples)) + 2 * np.eye(3)[labels]
    return drawn / drawn.sum(axis=-1, keepdims=True), labels


def write_predictions(path: Path) -> None:
    """An ensemble of another library's, with labels."""
    probabilities, labels = draw_probabilities()
    np.savez(path, probabilities=probabilities, labels=labels)


def write_member_predictions(path: Path) -> None:
    """One member, in the form of the file's ending."""
    probabilities, labels = draw_probabilities(members=1)
    columns = {f"p_{number}": probabilities[0, :, number] for number in range(3)}
    table = pd.DataFrame({**columns, "label": labels})
    if path.suffix == ".npz":
        np.savez(path, probabilities=probabilities[0], labels=labels)
    elif path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)


def write_unlabelled_predictions(path: Path) -> None:
    """What members say of images that have no label."""
    np.savez(path, probabilities=draw_probabilities()[0])


def write_numeric_predictions(path: Path) -> None:
    """Five members' means and spreads of fifty numbers, in the form of the file's ending."""
    rng = np.random.default_rng(1)
    targets = rng.normal(170, 10, 50)
    mean, std = targets + rng.normal(0, 3, (5, 50)), rng.uniform(2, 4, (5, 50))
    if path.suffix == ".npz":
        np.savez(path, mean=mean, std=std, targets=targets)
        return
    member, example = np.divmod(np.arange(250), 50)
    columns = {"member": member, "example": example, "mean": mean.ravel(), "std": std.ravel()}
    pd.DataFrame({**columns, "target": np.tile(targets, 5)}).to_csv(path, index=False)


def write_houses(path: Path) -> None:
    """A table of houses and their prices."""
    rng = np.random.default_rng(3)
    area, rooms = rng.uniform(30, 200, 90).round(1), rng.integers(1, 7, 90)
    place = rng.choice(["north", "south", "town"], 90)
    price = (2000 * area + 15000 * rooms + rng.normal(0, 9000, 90)).round()
    table = pd.DataFrame({"area": area, "rooms": rooms, "place": place, "price": price})
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)


def write_token(path: Path) -> None:
    """A token of a served ensemble's."""
    path.write_text("a-token-of-thirty-two-characters\n")
    path.chmod(0o600)


# By the name that a command has.
WRITERS: dict[str, Callable[[Path], None]] = {
    "number.jpg": write_number_picture,
    "four.png": write_number_picture,
    "photos/": write_photo_folder,
    "images.npy": write_image_array,
    "ensemble.npz": write_predictions,
    "forest.npz": write_member_predictions,
    "net.csv": write_member_predictions,
    "boosted.parquet": write_member_predictions,
    "predictions.npz": write_unlabelled_predictions,
    "heights.npz": write_numeric_predictions,
    "heights.csv": write_numeric_predictions,
    "houses.csv": write_houses,
    "houses.parquet": write_houses,
    "token.txt": write_token,
}


def do_on_screens(words: list[str]) -> None:
    """What a person does on the screen Labels between two commands of a page."""
    if words[:2] == ["data", "decisions"]:
        decide_about_labels(words[2])
    if words[:2] == ["label", "decisions"] or words[:2] == ["label", "apply"]:
        label_queued_images(words[2])


def decide_about_labels(name: str) -> None:
    """Relabel two test images of a dataset."""
    dataset = datasets.load_dataset(name)
    labels, classes = dataset.test_labels, len(dataset.class_names)
    log = open_decision_log("test", labels, classes)
    for number in (0, 1):
        label = int(labels[number])
        log.append_decision(
            LabelDecision(
                RELABEL,
                number,
                checksum_image(dataset.test_images, number),
                label,
                (label + 1) % classes,
                at=time.time(),
            )
        )


def label_queued_images(name: str) -> None:
    """Label what waits in the queue of a pool, all that is in an arm."""
    pool = find_label_pool(name)
    arms, log = find_pool_arms(pool), open_pool_log(pool)
    for number in np.flatnonzero(arms.chosen | arms.at_random).tolist():
        log.append_decision(build_pool_decision(pool, number, RELABEL, number % 4))
