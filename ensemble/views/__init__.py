"""Views: what an ensemble's predictions answer, one file a question, written once for every face.

A view is a function that takes an `EvaluatedEpoch` and yields parts (`parts.py`): the answer first,
then what carries it. Pages, reports, notebooks and the command line each render the same parts. A
part that is a `Choice` is answered by whoever renders: with what a person chose, or its default.

    from ensemble.views.registry import VIEWS
    for part in iterate_parts(VIEWS["calibration"].build(epoch)): ...
"""
