"""What a served ensemble answers is what its members say, however many ask at once."""

import asyncio
import io
import json
import re
from typing import Any

import jsonschema
import numpy as np
import pytest
from PIL import Image

import ensemble
from ensemble import datasets
from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality.conformal import fit_conformal_threshold
from ensemble.cli.results.predict import read_picture
from ensemble.recognition.classifier import open_classifier
from ensemble.recognition.reading_fields import serialize_reading
from ensemble.runs import Run
from tests.serving.in_process import Server, write_npy

# Of a probability: batches of another size sum in another order, and JSON has six decimals.
TOLERANCE = 2e-6
IMAGES = np.asarray(datasets.load_dataset("digits").test_images[:200])


def draw_picture() -> bytes:
    """Three digits on paper, as a phone would show them."""
    row = np.concatenate([np.pad(image[..., 0], 6) for image in IMAGES[:3]], axis=1)
    file = io.BytesIO()
    Image.fromarray(255 - np.kron(row, np.ones((6, 6), np.uint8))).save(file, "PNG")
    return file.getvalue()


PICTURE = draw_picture()


def write_parts(content: bytes, field: str = "image", copies: int = 1) -> tuple[bytes, str]:
    """A body in parts, and its type."""
    head = f'Content-Disposition: form-data; name="{field}"; filename="four.png"'
    part = b"--b0und\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n"
    return copies * part + b"--b0und--\r\n", "multipart/form-data; boundary=b0und"


def find_largest_difference(one: object, other: object) -> float:
    """How far two answers are from one another; infinitely where something else than numbers is."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((find_largest_difference(one[k], other[k]) for k in one), default=0.0)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return max(map(find_largest_difference, one, other), default=0.0)
    return 0.0 if one == other else np.inf


def test_an_array_is_answered_as_the_members_do(server: Server, served_run: Run) -> None:
    found = server.predict(IMAGES[:50], "?members=true")
    said = ensemble.open_run(served_run.id).predict(IMAGES[:50])
    assert found["run_id"] == served_run.id
    assert found["epoch"] == 2
    assert found["member_names"] == list(said.member_names)
    digits = found["digits"]
    assert len(digits) == 50
    members = np.array([digit["members"] for digit in digits]).transpose(1, 0, 2)
    assert np.abs(members - said.probabilities).max() < TOLERANCE
    averaged = np.array([digit["probabilities"] for digit in digits])
    assert np.abs(averaged - said.averaged).max() < TOLERANCE
    assert [digit["label"] for digit in digits] == said.said.tolist()
    assert np.array([digit["votes"] for digit in digits]).T.tolist() == said.votes.tolist()
    epistemic = np.array([digit["epistemic"] for digit in digits])
    assert np.abs(epistemic - said.epistemic).max() < 1e-5
    assert np.abs([digit["entropy"] for digit in digits] - entropy(said.averaged)).max() < 1e-5
    assert {len(digit["set"]) for digit in digits} - {10}, "no set rules anything out"


@pytest.mark.long
def test_sets_are_those_of_all_test_images_where_none_are_held_out(server: Server, served_run: Run) -> None:
    known = ensemble.open_run(served_run.id).predictions()
    threshold = fit_conformal_threshold(known.averaged, known.labels, 0.05)
    about = server.ask("/").json["sets"]
    assert about == {"miss": 0.05, "method": "aps", "calibrated_on": "test", "n": len(known.labels)}
    digits = server.predict(IMAGES[:64])["digits"]
    averaged = ensemble.open_run(served_run.id).predict(IMAGES[:64]).averaged
    expected = [[str(c) for c in row.nonzero()[0]] for row in threshold.build_sets(averaged)]
    assert [digit["set"] for digit in digits] == expected


@pytest.mark.parametrize("form", ["as it is", "in parts", "without a type", "any bytes"])
def test_a_picture_is_read_as_predict_reads_it(server: Server, served_run: Run, form: str) -> None:
    kinds = {"as it is": "image/png", "any bytes": "application/octet-stream"}
    body, kind = PICTURE, kinds.get(form, "")
    if form == "in parts":
        body, kind = write_parts(PICTURE)
    answer = server.ask("/predict?members=true", body, kind)
    assert answer.status == 200, answer.body
    found = answer.json
    classifier = open_classifier(served_run.id)
    expected = serialize_reading(classifier, *read_picture(classifier, PICTURE, 0.03))
    assert len(found["digits"]) == 3
    for digit in found["digits"]:
        assert digit.keys() > EXAMPLE_MEASURES.keys()
        assert digit.pop("set")
        assert np.shape(digit.pop("members")) == (3, 10)
    assert found.pop("class_names") == list("0123456789")
    assert len(found.pop("member_names")) == 3
    expected = json.loads(json.dumps(expected))
    assert find_largest_difference(found, expected) < 1e-4  # scores are sums of logarithms


def test_what_an_array_says_of_rejection_is_what_predict_says(server: Server, served_run: Run) -> None:
    noise = np.random.default_rng(0).integers(0, 256, IMAGES[:4].shape, np.uint8)
    images = np.concatenate([IMAGES[:4], noise])
    reading = open_classifier(served_run.id).read_images(images)
    digits = server.predict(images)["digits"]
    assert [digit["rejected"] for digit in digits] == [one.rejected for one in reading.digits]
    assert any(digit["rejected"] for digit in digits)
    assert [digit["why"] for digit in digits] == [one.rejection_reason for one in reading.digits]
    without = server.predict(images, "?rejection=false")["digits"]
    assert not {"rejected", "score", "threshold", "why", "signs"} & set(without[0])


def test_json_and_npy_of_any_type_say_the_same(server: Server) -> None:
    expected = server.predict(IMAGES[:3], "?rejection=false")["digits"]
    grey = IMAGES[:3, :, :, 0]
    scaled = "`images` ranged from 0 to 1 and were scaled to 0 to 255."
    for body, kind, note in (
        (json.dumps(grey.tolist()), "application/json", []),
        (json.dumps(IMAGES[:3].tolist()), "application/json; charset=utf-8", []),
        (json.dumps((grey / 255).tolist()), "application/json", [scaled]),
        (write_npy(IMAGES[:3].astype(np.float32)), "application/x-npy", []),
        (write_npy(np.asfortranarray(grey.astype(">i4"))), "application/octet-stream", []),
        (write_npy((grey / 255).astype(np.float16)), "", [scaled]),
    ):
        content = body.encode() if isinstance(body, str) else body
        answer = server.ask("/predict?rejection=false", content, kind)
        assert answer.status == 200, answer.body
        assert find_largest_difference(answer.json["digits"], expected) < TOLERANCE
        assert answer.json["notes"] == note


def test_200_concurrent_requests_are_answered_as_one_by_one(server: Server) -> None:
    alone = [server.predict(image[None], "?rejection=false&members=true") for image in IMAGES]

    async def ask_at_once() -> list[dict[str, Any]]:
        return await asyncio.gather(
            *(server.answer_images(image[None], "?rejection=false&members=true") for image in IMAGES)
        )

    together = server.run(ask_at_once())
    sets = [[each["digits"][0].pop("set") for each in answers] for answers in (together, alone)]
    # The score of one image is the threshold itself, and may be rounded to either side of it.
    assert sum(one != other for one, other in zip(*sets, strict=True)) <= 1
    for one, other in zip(together, alone, strict=True):
        assert find_largest_difference(one, other) <= TOLERANCE
    # They were put together: in some batch there was more than one image.
    text = server.ask("/metrics").body.decode()
    counts = dict(re.findall(r'^ensemble_batch_images_bucket\{le="(.+?)"\} (\d+)$', text, re.M))
    assert int(counts["+Inf"]) > int(counts["1"])


def test_as_many_images_as_one_request_may_have_come_back_in_their_order(server: Server) -> None:
    many = np.resize(IMAGES, (1024, *IMAGES.shape[1:]))
    digits = server.predict(many, "?rejection=false")["digits"]
    alone = server.predict(IMAGES[:1], "?rejection=false")["digits"][0]
    assert len(digits) == 1024
    for copy in digits[::200]:
        assert find_largest_difference(copy, alone) <= TOLERANCE


def test_the_document_is_openapi_and_every_answer_is_as_it_says(server: Server) -> None:
    document = server.ask("/openapi.json").json
    assert document["openapi"] == "3.1.0"
    assert {"title", "version"} <= document["info"].keys()
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert named == set(document["components"]["schemas"]), "a schema is not used, or not there"
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    assert len({operation["operationId"] for _, _, operation in operations}) == len(operations)
    assert set(document["paths"]) == set(server.ask("/").json["addresses"])

    images, parts = write_npy(IMAGES[:2]), write_parts(PICTURE)
    asked: list[tuple[str, bytes | None, str]] = [
        ("/predict", images, "application/x-npy"),
        ("/predict?members=true&rejection=false", images, "application/octet-stream"),
        ("/predict?members=true", PICTURE, "image/png"),
        ("/predict", *parts),
        ("/predict", b"", "image/png"),
        ("/predict", b"[[", "application/json"),
        ("/predict", b"no picture", "image/png"),
        ("/predict", b"x", "text/plain"),
        ("/predict?x=1", b"x", "image/png"),
        ("/health", None, ""),
        ("/openapi.json", None, ""),
        ("/", None, ""),
        ("/metrics", None, ""),
    ]
    statuses = set()
    for path, body, kind in asked:
        answer = server.ask(path, body, kind)
        operation = document["paths"][path.partition("?")[0]]["get" if body is None else "post"]
        described = operation["responses"][str(answer.status)]["content"]
        media = answer.headers["content-type"].partition(";")[0]
        schema = described[media]["schema"] | {"components": document["components"]}
        text = answer.json if media == "application/json" else answer.body.decode()
        jsonschema.Draft202012Validator(schema).validate(text)
        statuses.add(answer.status)
        if kind:
            accepted = operation["requestBody"]["content"]
            wild = kind.partition("/")[0] + "/*"
            known = {kind.partition(";")[0], wild} & set(accepted)
            assert bool(known) == (answer.status != 415)
    assert statuses == {200, 400, 415, 422}
    jsonschema.Draft202012Validator(
        document["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    ).validate(IMAGES[:2].tolist())


def test_what_is_counted_is_what_was_asked(server: Server) -> None:
    def read_counts() -> dict[str, float]:
        text = server.ask("/metrics").body.decode()
        for line in text.splitlines():  # as Prometheus's format has it
            assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+(\{\w+=\".*\"\})? [-+.e\d]+", line)
        return {name: float(value) for name, value in re.findall(r"^(ensemble\S+) (\S+)$", text, re.M)}

    before = read_counts()
    server.predict(IMAGES[:7], "?rejection=false")
    server.ask("/predict", b"no picture", "image/png")
    server.ask("/nowhere")
    after = read_counts()
    gained = {name: after[name] - before.get(name, 0) for name in after}
    assert gained["ensemble_images_total"] == 7
    assert gained["ensemble_errors_total"] == 2
    assert gained['ensemble_requests_total{path="/predict",status="200"}'] == 1
    assert gained['ensemble_requests_total{path="other",status="404"}'] == 1
    assert gained["ensemble_request_seconds_count"] == 2
    assert gained["ensemble_batch_images_sum"] == 7
    assert after["ensemble_requests_in_hand"] == 1  # the one that asks
    assert after["ensemble_waiting_images"] == 0
