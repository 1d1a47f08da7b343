"""On what something was chosen: the words that stand beside every best epoch, run or committee.

What was chosen on the images that it is then reported on looks better than it is.
"""

CHOSEN_ON_TEST = "chosen on the test images: expect less on new ones"
CHOSEN_ON_VALIDATION = "chosen on the validation images, not on the test images"
CHOSEN_MEMBERS_SENTENCE = (
    "Its members were chosen on the validation images, where they look better than they are: "
    "temperatures, thresholds and sets are fitted on one half of the test images instead."
)

CHOSEN_ON_ROWS_SENTENCE = (
    "Its members were chosen on the validation rows, where they look better than they are; the test rows chose nothing."
)


def describe_selection_basis(best_on: str) -> str:
    """The words for a choice made on the "validation" or on the "test" images."""
    return CHOSEN_ON_VALIDATION if best_on == "validation" else CHOSEN_ON_TEST


def describe_epoch_choice(epoch: int, last: int, usual: int, on_validation: bool) -> str:
    """On what the shown epoch was chosen, and what one picked by hand asks of its reader.

    Args:
      usual: the one that is shown unless another is picked.
      on_validation: whether `epoch` has the lowest NLL on the validation images.
    """
    if on_validation and last > 1:
        return (
            f"Epoch {epoch:,} of {last:,} has the lowest NLL on the validation images: it was {CHOSEN_ON_VALIDATION}."
        )
    if epoch == usual:
        return ""
    return f"Epoch {epoch:,} of {last:,} is your choice: if these test images led you to it, expect less on new ones."
