"""An ensemble in PyTorch on a GPU, by `torch.func`: python -m benchmarks.speed.torch_vmap SETTING…

As PyTorch's tutorial "Model ensembling" maps over members, with their gradients: the HOWTO's
network, optimiser and batches, which all members share. Settings: members (a number), float32 or
bfloat16 (autocast), eager or compiled. The last line is one JSON object.
"""

import json
import sys
import time
from typing import Any

import torch
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional

from benchmarks.speed.torch_loops import BATCH, CNN

IMAGES, WARM_STEPS, SECONDS = 60_000, 5, 1.0


def main(members: str, precision: str, mode: str) -> None:
    torch.manual_seed(0)
    device = torch.device("cuda")
    params, _ = stack_module_state([CNN().to(device) for _ in range(int(members))])
    params = {name: value.detach() for name, value in params.items()}
    velocity = {name: torch.zeros_like(value) for name, value in params.items()}
    module = CNN().to("meta")
    images = torch.rand(IMAGES, 1, 28, 28, device=device)
    labels = torch.randint(0, 10, (IMAGES,), device=device)

    def loss(member: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
            return functional.cross_entropy(functional_call(module, member, (x,)), y)

    gradients = vmap(grad(loss), in_dims=(0, None, None))

    def step(chosen: torch.Tensor) -> None:
        of_members = gradients(params, images[chosen], labels[chosen])
        for name, value in params.items():
            velocity[name].mul_(0.9).add_(of_members[name])
            value.sub_(0.1 * velocity[name])

    if mode == "compiled":
        step = torch.compile(step)
    batches = torch.randperm(IMAGES, device=device)[: IMAGES // BATCH * BATCH].view(-1, BATCH)
    for number in range(WARM_STEPS):
        step(batches[number])
    torch.cuda.synchronize()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        for number in range(10):
            step(batches[(steps + number) % len(batches)])
        torch.cuda.synchronize()
        steps += 10
    rate = int(members) * BATCH * steps / (time.perf_counter() - began)
    line = {"members": int(members), "precision": precision, "mode": mode}
    print(json.dumps({**line, "img_member_per_s": round(rate)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
