"""Competitors in PyTorch, as people write it: python -m benchmarks.speed.torch_loops SETTING…

The same network, optimiser and batches; the members are trained one after the other. Settings:
threads (a number), members (a number), nchw or channels_last, float32 or bfloat16 (autocast),
eager or compiled.
"""

import itertools
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.speed.turns import answer

BATCH, STEPS = 128, 4


class CNN(nn.Module):
    """The HOWTO's network."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.dense1 = nn.Linear(7 * 7 * 64, 256)
        self.dense2 = nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.avg_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.avg_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.relu(self.dense1(x.flatten(1)))
        return self.dense2(x)


def member_step(
    images: torch.Tensor, labels: torch.Tensor, layout: torch.memory_format, bfloat16: bool, compiled: bool
) -> Callable[[torch.Tensor], None]:
    """A new member, and its training step on the images of the given numbers."""
    member: Any = CNN()
    member = member.to(memory_format=layout)
    optimizer = torch.optim.SGD(member.parameters(), lr=0.1, momentum=0.9)
    if compiled:
        member = torch.compile(member)

    def step(chosen: torch.Tensor) -> None:
        x = images[chosen].contiguous(memory_format=layout)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bfloat16):
            loss = functional.cross_entropy(member(x), labels[chosen])
        loss.backward()
        optimizer.step()

    return step


def compete(threads: str, members: str, layout: str, precision: str, mode: str) -> None:
    """Train, a few steps of one member and then of the next, whenever it is our turn."""
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    from ensemble import datasets

    digits = datasets.load_dataset("mnist")
    images = torch.from_numpy(digits.train_images / 255.0).float().permute(0, 3, 1, 2).contiguous()
    labels = torch.tensor(digits.train_labels).long()
    formats = {"nchw": torch.contiguous_format, "channels_last": torch.channels_last}
    steps = itertools.cycle(
        [
            member_step(images, labels, formats[layout], precision == "bfloat16", mode == "compiled")
            for _ in range(int(members))
        ]
    )
    batches = itertools.cycle(torch.randperm(len(images))[: 468 * BATCH].split(BATCH))

    def unit() -> float:
        step = next(steps)
        for chosen in itertools.islice(batches, STEPS):
            step(chosen)
        return BATCH * STEPS

    for _ in range(int(members)):
        unit()
    answer(unit)


if __name__ == "__main__":
    compete(*sys.argv[1:])
