"""Who works and waits on this machine, and how members are spread over its devices."""

import pytest

from ensemble.ui.devices import machine_info


@pytest.mark.parametrize(
    ("members", "devices", "said", "lines"),
    [
        (4, 1, "4 members on 1 device: one after another.", ""),
        (4, 2, "4 members on 2 devices: 2 members each.", "device 1: members 1–2 · device 2: members 3–4"),
        (3, 2, "3 members on 2 devices: up to 2 members each.", "device 1: members 1–2 · device 2: member 3"),
        (
            1,
            4,
            "1 member on 1 device: alone; 3 devices would be idle, unless *Batch parts* (on Train, "
            "under More) has devices share a member's batches.",
            "",
        ),
        (
            5,
            4,
            "5 members on 3 devices: up to 2 members each; 1 device would be idle.",
            "device 1: members 1–2 · device 2: members 3–4 · device 3: member 5",
        ),
    ],
)
def test_how_members_are_spread(members: int, devices: int, said: str, lines: str) -> None:
    assert machine_info.describe_member_distribution(members, devices) == said
    assert machine_info.list_members_by_device(members, devices) == lines
