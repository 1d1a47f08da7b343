"""What is asked of a scheduler for each task: from options, the page, or `ensemble.toml`.

Set-up lines are shell code: they come from `ensemble.toml` in the working folder alone, never from
a job's folder, which may have been made elsewhere.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ensemble.errors import ConfigError
from ensemble.settings import SETTINGS_FILE_NAME, Settings, declare_setting, read_settings_file

_LATER_FIELDS = ("constraint", "gres", "qos")
_REMOVED_FIELDS = ("nodes",)  # in what earlier versions recorded; a task now has one node
_MAX_SETUP_LINES, MAX_LINE_LENGTH = 50, 1000
_NAME_FORM = (r"(?!-)[\w.,@+-]{0,100}", "a name of letters, digits and . , @ + _ -")

_EXPRESSION_FORM = (r"(?!-)[\w.,:@+*&|()\[\]-]{0,200}", "features, combined by & | * ( ) [ ]")
_GRES_FORM = (r"(?!-)[\w.,:@+/=-]{0,200}", "names with a type and a count, as gpu:a100:2")


@dataclass(frozen=True)
class SlurmConfig(Settings):
    """What each task asks for. `from_toml` has the person's own as the defaults.

    Raises:
      ConfigError: a value is out of its range, with the range in its message.
    """

    TABLE: ClassVar[str] = "slurm"  # in `ensemble.toml`

    partition: str = declare_setting("", "Slurm's partition; the cluster's default if left out.", form=_NAME_FORM)
    account: str = declare_setting("", "Slurm's account to charge; your default if left out.", form=_NAME_FORM)
    time: int = declare_setting(
        60, "Minutes that a task may run; the work continues in another task.", low=2, high=525_600
    )
    gpus: int = declare_setting(0, "GPUs of a task.", low=0, high=64)
    cpus: int = declare_setting(0, "CPUs of a task; 0: as many as Slurm assigns.", low=0, high=1024)
    memory: int = declare_setting(0, "GB of memory of a task; 0: as much as Slurm assigns.", low=0, high=65_536)
    constraint: str = declare_setting(
        "", "Features that a node must have, as sbatch takes them.", form=_EXPRESSION_FORM
    )
    gres: str = declare_setting("", "Generic resources of a task, as gpu:a100:2.", form=_GRES_FORM)
    qos: str = declare_setting("", "Slurm's quality of service; your default if left out.", form=_NAME_FORM)
    setup: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """As of all settings, and the lines."""
        object.__setattr__(self, "setup", _parse_setup_lines(self.setup))
        super().check()

    def as_dict(self) -> dict[str, Any]:
        """All but the lines by name, ready for JSON.

        What earlier versions did not know is left out where it is not asked for: a task that one
        submitted is then known to be the one that is asked for now.
        """
        values = super().as_dict()
        del values["setup"]
        return {name: value for name, value in values.items() if value or name not in _LATER_FIELDS}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """From `as_dict`'s form, also an earlier version's; set-up lines in it are ignored."""
        return super().from_dict({name: values[name] for name in drop_removed_fields(values) if name != "setup"})

    @classmethod
    def from_toml(cls) -> Self:
        """As its table of `ensemble.toml` in the working folder has it.

        Raises:
          ConfigError: the file cannot be read, or has what is no setting or out of its range.
        """
        values = read_settings_table(cls.TABLE) or {}
        try:
            _check_node_count(values)
            lines = _parse_setup_lines(values.get("setup", ()))
            config = cls.from_dict(values)
        except ConfigError as error:
            raise ConfigError(f"In {SETTINGS_FILE_NAME}, table [{cls.TABLE}]: {error}") from error
        object.__setattr__(config, "setup", lines)
        return config


def read_settings_table(name: str = SlurmConfig.TABLE) -> dict[str, Any] | None:
    """The table of that name of `ensemble.toml`, as it stands there; None if there is none.

    Raises:
      ConfigError: the file cannot be read, or the name stands for something else.
    """
    values = read_settings_file().get(name)
    if values is not None and not isinstance(values, dict):
        raise ConfigError(f"In {SETTINGS_FILE_NAME}, {name} has to be a table, [{name}]: correct it.")
    return values


def drop_removed_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Recorded settings without those that this version no longer has."""
    return {name: value for name, value in values.items() if name not in _REMOVED_FIELDS}


def _check_node_count(values: dict[str, Any]) -> None:
    if (nodes := values.get("nodes", 1)) != 1:
        raise ConfigError(
            f"nodes is {nodes!r:.60}, but a task has one node. Remove the line, and use --groups to train on "
            "several nodes."
        )


def _parse_setup_lines(lines: Any) -> tuple[str, ...]:
    """Lines of shell code; ConfigError for anything else."""
    fits = isinstance(lines, list | tuple) and len(lines) <= _MAX_SETUP_LINES
    if not fits or not all(
        isinstance(line, str) and len(line) <= MAX_LINE_LENGTH and not set(line) & set("\n\r\0") for line in lines
    ):
        raise ConfigError(
            f"setup has to be a list of at most {_MAX_SETUP_LINES} lines of shell code, each of at "
            f"most {MAX_LINE_LENGTH:,} letters."
        )
    return tuple(lines)
