"""Counts the rest of a training step: gradients, what the optimizer keeps after its step, the checkpoint's tensors and its file."""
from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .libraries import library
from .saved import SavedTensors, Storage

LEARNING_RATE = 1e-3


@dataclass(frozen=True)
class Step:
    """The bytes of one training step. saved: what autograd kept; checkpoint_tensors: weights and optimizer state; checkpoint_file: on disk."""
    saved: tuple[Storage, ...]
    saved_bytes: int
    weights: int
    gradients: int
    optimizer_state: int
    checkpoint_tensors: int
    checkpoint_file: int


def optimizers() -> Mapping[str, Callable[[Any], Any]]:
    """Every optimizer that a StoredStateScenario knows, by its name there: each takes parameters."""
    optim = library("torch").optim
    return {
        "sgd": lambda parameters: optim.SGD(parameters, LEARNING_RATE),
        "sgd_momentum": lambda parameters: optim.SGD(parameters, LEARNING_RATE, momentum=0.9),
        "adam": lambda parameters: optim.Adam(parameters, LEARNING_RATE),
        "adamw": lambda parameters: optim.AdamW(parameters, LEARNING_RATE),
        "adafactor": lambda parameters: optim.Adafactor(parameters, LEARNING_RATE),
        "adafactor_transformers": lambda parameters: library("transformers.optimization").Adafactor(parameters, lr=LEARNING_RATE, relative_step=False, scale_parameter=False),
    }


def tensors_in(held: Any) -> Iterator[Any]:
    """The tensors in nested dictionaries, lists and tuples."""
    if library("torch").is_tensor(held):
        yield held
    elif isinstance(held, Mapping):
        yield from (tensor for value in held.values() for tensor in tensors_in(value))
    elif isinstance(held, (list, tuple)):
        yield from (tensor for value in held for tensor in tensors_in(value))


def bytes_of(tensors: Iterable[Any]) -> int:
    """The storages of tensors, each once, whole."""
    storages = {storage.data_ptr(): storage.nbytes() for tensor in tensors for storage in [tensor.untyped_storage()]}
    return sum(storages.values())


def measure_step(model: Any, loss: Callable[[], Any], optimizer: str = "adamw") -> Step:
    """Run one training step of a PyTorch model and count what it held.

    loss: runs the forward pass and gives the loss; optimizer: its name in a StoredStateScenario. Raises ValueError for a name
    that is not there, MeasureExtraMissing where PyTorch is not installed.
    """
    known = optimizers()
    if optimizer not in known:
        raise ValueError(f"measure_step: {optimizer!r} is not one of {', '.join(known)}")
    torch = library("torch")
    parameters = list(model.parameters())
    with SavedTensors(excluding=parameters) as saved:
        value = loss()
    storages, saved_bytes = saved.storages, saved.bytes
    value.backward()
    gradients = bytes_of(parameter.grad for parameter in parameters if parameter.grad is not None)
    stepping = known[optimizer](parameters)
    stepping.step()
    checkpoint = {"model": model.state_dict(), "optimizer": stepping.state_dict()}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "checkpoint.pt"
        torch.save(checkpoint, file)
        on_disk = file.stat().st_size
    return Step(storages, saved_bytes, bytes_of(parameters), gradients, bytes_of(tensors_in(dict(stepping.state))), bytes_of(tensors_in(checkpoint)), on_disk)


__all__ = ["Step", "bytes_of", "measure_step", "optimizers", "tensors_in"]
