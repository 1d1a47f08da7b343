"""Which of a run's members answer, as the command line names them."""

from ensemble import runs
from ensemble.api.member_questions import find_member_numbers
from ensemble.errors import ConfigError


def parse_member_numbers(run: runs.Run, text: str) -> list[int]:
    """The numbers of members, from 0, of a list such as "1,3,4": from 1, as people count, or names.

    Raises:
      ConfigError: there is no such member, none is named, or one twice.
    """
    chosen: list[int | str] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        if word.isdecimal() and len(word) < 10:
            if not 1 <= int(word) <= run.config.members:
                raise ConfigError(f"There is no member {word}: choose from 1 to {run.config.members}.")
            chosen.append(int(word) - 1)
        else:
            chosen.append(word)
    return find_member_numbers(run, chosen)
