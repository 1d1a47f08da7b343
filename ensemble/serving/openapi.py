"""What the server answers, as OpenAPI 3.1 has it; a test holds the answers against it."""

from typing import Any

from ensemble import __version__
from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.serving import limits

_Schema = dict[str, Any]

_ERROR_MEANINGS = {
    400: "The body is empty, is no JSON, or was damaged; or the server is not called so.",
    401: "The token is missing or wrong.",
    403: "A page of another site asks.",
    404: "There is nothing at this address.",
    405: "The address takes another method.",
    408: "The body did not arrive in time.",
    413: "The body is too large, or has too many images.",
    415: "Bodies of that type, or packed ones, are not read.",
    422: "The picture or the array cannot be read, or is of another size than the run's images.",
    500: "A fault of the server's own.",
    503: "Too much is in hand: try again after the seconds in Retry-After.",
}
TEXT, NUMBER, _INTEGER, _SWITCH = ({"type": name} for name in ("string", "number", "integer", "boolean"))


def build_openapi_document(about: dict[str, Any], has_token: bool) -> dict[str, Any]:
    """The document of a server.

    Args:
      about: what is served, as of `describe_ensemble`.
      has_token: whether a token is asked for.
    """
    classes, members = len(about["class_names"]), len(about["member_names"])
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": f"Predictions of the ensemble {about['name']}",
            "version": __version__,
            "description": (
                f"{members} members on images of {about['dataset']}, asked together. "
                "docs/take_it_away.md of Ensemble Dashboard says more."
            ),
        },
        "paths": {
            "/predict": {"post": _build_predict_operation(about["image_shape"])},
            "/health": {"get": _build_get_operation("readHealth", "That the server lives.", "Health")},
            "/metrics": {"get": _build_metrics_operation()},
            "/openapi.json": {"get": _build_get_operation("readDocument", "This document.", {"type": "object"})},
            "/": {"get": _build_get_operation("describeServer", "What is served here.", "Server")},
        },
        "components": {
            "schemas": {
                "Answer": _build_answer_schema(),
                "Digit": _build_digit_schema(classes, members),
                "Error": _build_object_schema({"error": TEXT}),
                "Health": _build_object_schema({"status": {"const": "ok"}}),
                "Server": _build_server_schema(),
            }
        },
    }
    if has_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
        document["paths"]["/health"]["get"]["security"] = []
    return document


def _build_predict_operation(image_shape: list[int]) -> _Schema:
    """`POST /predict`."""
    file_schema: _Schema = {}
    height, width, channels = image_shape
    pixels: _Schema = {"type": "number", "minimum": 0, "maximum": 255}
    if channels == 1:
        pixels = {"oneOf": [pixels, _build_array_schema(pixels, 1)]}
    else:
        pixels = _build_array_schema(pixels, channels)
    images = _build_array_schema(_build_array_schema(_build_array_schema(pixels, width), height))
    images |= {"minItems": 1, "maxItems": limits.MAX_IMAGES}
    types = {name: {"schema": file_schema} for name in ("image/*", "application/octet-stream")}
    return {
        "operationId": "predict",
        "summary": "What the ensemble says of a picture, or of the images of an array.",
        "description": (
            "A picture is prepared as on Classify: its digits are found, or it is one image. The "
            "images of an array (.npy or JSON) have the form that the run learnt already: numbers "
            "from 0 to 255, or all of them from 0 to 1."
        ),
        "parameters": [
            _build_switch_parameter("members", "Each member's probabilities too.", False),
            _build_switch_parameter("rejection", "Of an array whether each image is rejected; false is faster.", True),
        ],
        "requestBody": {
            "required": True,
            "content": {
                **types,
                "application/x-npy": {"schema": file_schema},
                "application/json": {"schema": images},
                "multipart/form-data": {
                    "schema": {"type": "object", "properties": {"image": {"type": "string", "format": "binary"}}}
                },
            },
        },
        "responses": {
            "200": _build_response("The answer.", _build_schema_reference("Answer")),
            **_build_error_responses(400, 401, 403, 408, 413, 415, 422, 500, 503),
        },
    }


def _build_get_operation(name: str, summary: str, schema: str | _Schema) -> _Schema:
    """A `GET` that answers in JSON."""
    if isinstance(schema, str):
        schema = _build_schema_reference(schema)
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": _build_response(summary, schema), **_build_error_responses(400, 401, 403, 500)},
    }


def _build_metrics_operation() -> _Schema:
    """`GET /metrics`, which is text."""
    operation = _build_get_operation("readMetrics", "What was counted, for Prometheus.", {})
    operation["responses"]["200"] = {"description": "What was counted.", "content": {"text/plain": {"schema": TEXT}}}
    return operation


def _build_answer_schema() -> _Schema:
    """What `/predict` answers."""
    return _build_object_schema(
        {
            "run_id": TEXT,
            "epoch": _INTEGER,
            "class_names": _build_array_schema(TEXT),
            "member_names": _build_array_schema(TEXT),
            "digits": {
                **_build_array_schema(_build_schema_reference("Digit")),
                "description": "One for each image of an array, or for each mark of a picture.",
            },
            "notes": {
                **_build_array_schema(TEXT),
                "description": "What was done to the picture, or assumed of the numbers.",
            },
        },
        {
            "text": {**TEXT, "description": "Of a picture: all that is read, ? where rejected."},
            "confidence": {
                **_build_share_schema(),
                "description": "Of a picture: the probability that all of it is right.",
            },
            "refused": {**TEXT, "description": "Of a picture: why all of it is rejected, or “”."},
        },
    )


def _build_digit_schema(classes: int, members: int) -> _Schema:
    share = _build_share_schema()
    label: _Schema = {"type": "integer", "minimum": 0, "maximum": classes - 1}
    row = _build_array_schema(share, classes)
    return _build_object_schema(
        {
            "label": {**label, "description": "The class with the highest averaged probability."},
            "name": TEXT,
            "probabilities": {**row, "description": "Averaged over the members, by class."},
            "votes": {**_build_array_schema(label, members), "description": "Each member's class."},
            "named_votes": _build_array_schema(TEXT, members),
            **{
                name: {**NUMBER, "description": measure.gloss + " In nats." * (measure.unit == "nats")}
                for name, measure in EXAMPLE_MEASURES.items()
            },
            "set": {
                "type": ["array", "null"],
                "items": TEXT,
                "description": "The classes that it may be; null where the run has no such sets.",
            },
        },
        {
            "members": {
                **_build_array_schema(row, members),
                "description": "Each member's probabilities, where they are asked for.",
            },
            "rejected": {**_SWITCH, "description": "Whether score is above threshold."},
            "score": {**NUMBER, "description": "How unlike the dataset it is."},
            "threshold": {"type": ["number", "null"], "description": "Null where no score is too high."},
            "why": {**TEXT, "description": "Why it is rejected, or “”."},
            "signs": {
                "type": "object",
                "additionalProperties": NUMBER,
                "description": "What each sign adds to the score, in nats.",
            },
            "box": {
                **_build_array_schema(_INTEGER, 4),
                "description": "Of a picture: left, top, right, bottom in its pixels.",
            },
            "line": {**_INTEGER, "description": "Of a picture: which line it stands on, from 0."},
        },
    )


def _build_server_schema() -> _Schema:
    """What `/` answers."""
    sets = _build_object_schema(
        {
            "miss": {**_build_share_schema(), "description": "Of the sets that may miss the class."},
            "method": TEXT,
            "calibrated_on": {"enum": ["validation", "test"]},
            "n": _INTEGER,
        }
    )
    return _build_object_schema(
        {
            "run_id": TEXT,
            "name": TEXT,
            "epoch": _INTEGER,
            "dataset": TEXT,
            "noun": TEXT,
            "class_names": _build_array_schema(TEXT),
            "member_names": _build_array_schema(TEXT),
            "image_shape": _build_array_schema(_INTEGER, 3),
            "refuse": {**_build_share_schema(), "description": "Of real images that may be rejected."},
            "sets": {"oneOf": [sets, {"type": "null"}]},
            "batch_sizes": _build_array_schema(_INTEGER),
            "limits": {"type": "object", "additionalProperties": NUMBER},
            "addresses": _build_array_schema(TEXT),
        }
    )


def _build_object_schema(required: _Schema, optional: _Schema | None = None) -> _Schema:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
    }


def _build_array_schema(items: _Schema, length: int | None = None) -> _Schema:
    size = {} if length is None else {"minItems": length, "maxItems": length}
    return {"type": "array", "items": items, **size}


def _build_share_schema() -> _Schema:
    """A number from 0 to 1."""
    return {"type": "number", "minimum": 0, "maximum": 1}


def _build_schema_reference(name: str) -> _Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _build_switch_parameter(name: str, description: str, default: bool) -> _Schema:
    return {"name": name, "in": "query", "description": description, "schema": {"type": "boolean", "default": default}}


def _build_response(description: str, schema: _Schema) -> _Schema:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _build_error_responses(*statuses: int) -> _Schema:
    """The answers that are errors."""
    return {
        str(status): _build_response(_ERROR_MEANINGS[status], _build_schema_reference("Error")) for status in statuses
    }
