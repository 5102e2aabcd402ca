"""Measures what autograd saves in residual networks on a CPU: `python -m tests.residual_networks`, with the `measure` extra, writes the figures that the tests hold the kit against."""
from __future__ import annotations

import json
from pathlib import Path

FACTS = Path(__file__).parent / "facts" / "measured_image_activations.json"
NETWORKS = {"resnet18": ((2, 2, 2, 2), False), "resnet34": ((3, 4, 6, 3), False), "resnet50": ((3, 4, 6, 3), True), "resnet101": ((3, 4, 23, 3), True), "resnet152": ((3, 8, 36, 3), True)}
IMAGES = 2


def saved(blocks: tuple[int, ...], bottleneck: bool) -> int:
    """Bytes of the storages that autograd keeps in one forward pass, each once, parameters left out."""
    import torch
    from torch import nn

    def convolution(inputs: int, outputs: int, side: int, stride: int = 1) -> nn.Sequential:
        return nn.Sequential(nn.Conv2d(inputs, outputs, side, stride, side // 2, bias=False), nn.BatchNorm2d(outputs))

    class Block(nn.Module):
        def __init__(self, inputs: int, width: int, outputs: int, stride: int):
            super().__init__()
            self.convolutions = nn.ModuleList([convolution(inputs, width, 1), convolution(width, width, 3, stride), convolution(width, outputs, 1)] if bottleneck
                                              else [convolution(inputs, outputs, 3, stride), convolution(outputs, outputs, 3)])
            self.shortcut = convolution(inputs, outputs, 1, stride) if stride != 1 or inputs != outputs else None
            self.rectifier = nn.ReLU(inplace=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x
            for each in self.convolutions[:-1]:
                y = self.rectifier(each(y))
            y = self.convolutions[-1](y)
            y += x if self.shortcut is None else self.shortcut(x)
            return self.rectifier(y)

    layers: list[nn.Module] = [*convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 * 2**stage
        outputs = 4 * width if bottleneck else width
        for block in range(count):
            layers.append(Block(channels, width, outputs, 2 if stage and not block else 1))
            channels = outputs
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))
    parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(torch.randn(IMAGES, 3, 224, 224))
    return sum(storage.nbytes() for storage in kept.values())


def main() -> None:
    """Measure all networks and write the file."""
    import torch
    found = {"measured_with": f"PyTorch {torch.__version__}", "images": IMAGES, "image_size": 224, "saved_bytes": {name: saved(*shape) for name, shape in NETWORKS.items()}}
    FACTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
