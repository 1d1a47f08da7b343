"""What a run's measuring under shift came to, as the command line prints it."""

from typing import Any

from ensemble.shift import Stress

SHOWN = ("ensemble_accuracy", "ensemble_nll", "ensemble_ece", "member_accuracy",
         "mean_information")  # fmt: skip


def stress_summary(found: Stress) -> dict[str, Any]:
    """The figures that a script wants, ready for JSON; results.json has them all.

    `steps` begins with the test images as they are, of kind null; `outside` says how well the
    ensemble's entropy tells images from outside, and a single member's on average.
    """
    results = found.results
    if results is None:
        return {}
    clean = [{"kind": None, "amount": None, **results.clean}] if results.clean else []
    return {
        "epoch": results.epoch,
        "images": results.images,
        "members": results.members,
        "steps": [
            {"kind": step["kind"], "amount": step["amount"], **{name: step[name] for name in SHOWN}}
            for step in [*clean, *results.steps]
        ],
        "outside": [
            {"key": one["key"], **one["ensemble"],
             "member_auroc": sum(member["auroc"] for member in one["members"]) / results.members}
            for one in results.outside
        ],
    }  # fmt: skip
