"""A view gone through without anybody to ask: every choice is its default, or as given."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ensemble.errors import ConfigError
from ensemble.views.parts import Alternatives, Choice, ChoiceRow, Columns, DeferredChoice, Figures, Part, View


class DefaultChooser:
    """Answers choices by what was given for them, else by their default; notes what was asked.

    Attributes:
      given: words by the names of choices.
      choices: the choices that were asked, by name.
      answers: what each was answered with.
    """

    def __init__(self, answers: Mapping[str, str] | None = None) -> None:
        self.given = dict(answers or {})
        self.choices: dict[str, Choice] = {}
        self.answers: dict[str, str] = {}

    def answer(self, choice: Choice) -> str:
        """The word of a choice.

        Raises:
          ConfigError: what was given for it is none of its words.
        """
        self.choices[choice.name] = choice
        word = self.given.get(choice.name, choice.default)
        if not choice.is_valid(word):
            offered = ", ".join(value or repr(value) for value in choice.values)
            raise ConfigError(f"{choice.name} is {word!r:.60}: choose one of {offered}.")
        self.answers[choice.name] = word
        return word


def iterate_parts(view: View, chooser: DefaultChooser | None = None, *, every: bool = True) -> Iterator[Part]:
    """The parts of a view in their order, without those that only ask or lay out.

    Args:
      chooser: answers its choices; by default with their defaults.
      every: whether all figures and alternatives are wanted where one is to be chosen, else the
        chosen ones.
    """
    chooser = chooser or DefaultChooser()
    answer: object = None
    while True:
        try:
            part = view.send(answer)
        except StopIteration:
            return
        answer = None
        match part:
            case Choice():
                answer = chooser.answer(part)
            case DeferredChoice():
                answer = chooser.answer(part.choice)
            case ChoiceRow():
                answer = tuple(map(chooser.answer, part.choices))
            case Columns():
                for build in part.columns:
                    yield from iterate_parts(build(), chooser, every=every)
            case Alternatives():
                chosen = chooser.answer(part.choice)
                for word in part.choice.values if every else (chosen,):
                    yield from iterate_parts(part.build(word), chooser, every=every)
            case Figures(choice=Choice()) if not every:
                assert part.choice is not None
                word = chooser.answer(part.choice)
                notes = {"": part.notes[word]} if word in part.notes else {}
                yield replace(Figures.single(part.figure(word)), notes=notes)
            case _:
                yield part


def check_known_choices(chooser: DefaultChooser) -> None:
    """Refuse what was given for choices that nobody asked.

    Raises:
      ConfigError: there is such; the message names the choices that there are.
    """
    unknown = sorted(set(chooser.given) - set(chooser.choices))
    if unknown:
        offered = ", ".join(chooser.choices) or "none"
        raise ConfigError(f"There is no choice {unknown[0]!r:.60} here: there are {offered}.")
