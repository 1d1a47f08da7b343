"""The details of an open mark: each is a module, imported and run when it is chosen."""

from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.shared import address

# The word in the address, and the label on the screen.
DETAILS = {
    "neighbours": "Nearest test images",
    "saliency": "What would change its answer",
    "compare": "Another run or epoch",
    "gate": "Rejection",
}


def show_selected_detail(mark: ClassifiedMark) -> None:
    key = address.select_address_option(
        address.DETAIL, "Details", DETAILS, next(iter(DETAILS)), label_visibility="collapsed"
    )
    _DETAIL_FUNCTIONS[key](mark)


def _show_neighbors_detail(mark: ClassifiedMark) -> None:
    from ensemble.ui.classify.details import nearest_images

    nearest_images.show_nearest_images(mark)


def _show_saliency_detail(mark: ClassifiedMark) -> None:
    from ensemble.ui.classify.details import saliency

    saliency.show_saliency_maps(mark)


def _show_comparison_detail(mark: ClassifiedMark) -> None:
    from ensemble.ui.classify.details import answer_comparison

    answer_comparison.show_answer_comparison(mark)


def _show_rejection_detail(mark: ClassifiedMark) -> None:
    from ensemble.ui.classify.details import rejection

    rejection.show_rejection_threshold(mark)


# The address says "gate", as links of earlier versions do.
_DETAIL_FUNCTIONS = {
    "neighbours": _show_neighbors_detail,
    "saliency": _show_saliency_detail,
    "compare": _show_comparison_detail,
    "gate": _show_rejection_detail,
}
