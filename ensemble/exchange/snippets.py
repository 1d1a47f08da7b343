"""How the predictions of an ensemble are saved from other libraries, in five lines each.

They need nothing of this program: `models` are the members, and the images and labels of the test
set are the user's own.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Snippet:
    """One library's.

    Attributes:
      library: its name.
      package: what Python imports it as.
      names: what the lines take for given, each with what it is.
      code: the lines.
    """

    library: str
    package: str
    names: dict[str, str]
    code: str


SNIPPETS = (
    Snippet(
        "PyTorch",
        "torch",
        {
            "models": "a list of networks from images to logits",
            "images": "a tensor (N, …), on the networks' device",
            "labels": "a tensor (N,) of class numbers from 0",
        },
        """\
import numpy as np, torch
[model.eval() for model in models]
with torch.no_grad():
    logits = torch.stack([torch.cat([m(b) for b in images.split(500)]) for m in models])
np.savez("ensemble.npz", logits=logits.float().cpu().numpy(), labels=labels.cpu().numpy())
""",
    ),
    Snippet(
        "Keras",
        "keras",
        {
            "models": "a list of models that end in a softmax",
            "images": "an array (N, …)",
            "labels": "an array (N,) of class numbers from 0",
        },
        """\
import numpy as np
probabilities = np.stack([model.predict(images, verbose=0) for model in models])
np.savez("ensemble.npz", probabilities=probabilities, labels=labels)
""",
    ),
    Snippet(
        "JAX",
        "jax",
        {
            "apply": "a function of (params, images) that gives logits (N, C)",
            "members": "a list of parameters",
            "images": "an array (N, …)",
            "labels": "an array (N,) of class numbers from 0",
        },
        """\
import jax, jax.numpy as jnp, numpy as np
parts = np.array_split(images, -(-len(images) // 500))
predict = jax.jit(lambda params, part: apply(params, part).astype(jnp.float32))
logits = np.stack([np.concatenate([predict(p, part) for part in parts]) for p in members])
np.savez("ensemble.npz", logits=logits, labels=labels)
""",
    ),
    Snippet(
        "scikit-learn",
        "sklearn",
        {
            "models": "a list of fitted classifiers",
            "X": "an array (N, features)",
            "y": "an array (N,) of labels, as the classifiers were trained on",
        },
        """\
import numpy as np
probabilities = np.stack([model.predict_proba(X) for model in models])
names = models[0].classes_.astype(str)
labels = np.asarray(y).astype(str)
np.savez("ensemble.npz", probabilities=probabilities, labels=labels, class_names=names)
""",
    ),
)
