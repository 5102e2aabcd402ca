"""Counts what autograd saves: every storage that a forward pass keeps for its backward pass, once, parameters left out."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from .libraries import library


@dataclass(frozen=True)
class Storage:
    """One storage that is kept. shape and dtype are of the tensor that was first saved in it; size is the whole storage in bytes."""
    shape: tuple[int, ...]
    dtype: str
    size: int


class SavedTensors:
    """Counts, within a `with` block, the storages of all tensors that autograd saves.

    A storage that several tensors share counts once, whole, as it is held whole. Storages of `excluding` (tensors, such as a
    model's parameters, or what another count `held`) don't count. It holds what it counts, so that an address is not given out twice.
    """

    def __init__(self, excluding: Iterable[Any] = ()):
        self._excluded = {_storage(held).data_ptr() for held in excluding}
        self._held: dict[int, Any] = {}
        self._storages: list[Storage] = []

    def __enter__(self) -> Self:
        self._hooks = library("torch").autograd.graph.saved_tensors_hooks(self._count, lambda tensor: tensor)
        self._hooks.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._hooks.__exit__(*raised)

    def _count(self, tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if address not in self._excluded and address not in self._held:
            self._held[address] = storage
            self._storages.append(Storage(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), storage.nbytes()))
        return tensor

    @property
    def storages(self) -> tuple[Storage, ...]:
        """What was saved, in the order of the forward pass."""
        return tuple(self._storages)

    @property
    def held(self) -> tuple[Any, ...]:
        """The storages themselves."""
        return tuple(self._held.values())

    @property
    def bytes(self) -> int:
        """All of it."""
        return sum(storage.size for storage in self._storages)


def _storage(held: Any) -> Any:
    return held.untyped_storage() if hasattr(held, "untyped_storage") else held


__all__ = ["SavedTensors", "Storage"]
