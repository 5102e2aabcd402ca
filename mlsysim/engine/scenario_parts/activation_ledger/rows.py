"""A row of the ledger: one tensor that autograd keeps for the backward pass, as a quantity whose formula is a shape times a width."""
from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, TypeVar

from ...declarations import Derived
from ...evaluation import scalar
from ...expression import Apply, Case, Expression, Table, lift

T = TypeVar("T")

WIDTHS = Table("bytes", "byte", {"fp32": 4, "bf16": 2, "fp16": 2, "bool": 1, "int64": 8}, source={
    "fp32": "IEEE 754-2019, section 3.6, binary32",
    "bf16": "Kalamkar et al. 2019, A Study of BFLOAT16 for Deep Learning Training, arXiv:1905.12322, section 2",
    "fp16": "IEEE 754-2019, section 3.6, binary16",
    "bool": "PyTorch 2.13 documentation, Tensor Attributes, torch.dtype: a truth value takes one byte",
    "int64": "PyTorch 2.13 documentation, Tensor Attributes, torch.dtype: a token's number is a 64-bit integer",
})


class Tensor(Apply):
    """The bytes of one tensor inside a formula: the product of its sides and its width, which also remembers them apart."""

    def __init__(self, shape: tuple[Any, ...], width: Any):
        sides = tuple(map(lift, shape))
        super().__init__("*", (functools.reduce(operator.mul, sides), lift(width)))
        object.__setattr__(self, "shape", sides)
        object.__setattr__(self, "width", lift(width))

    shape: tuple[Expression, ...]
    width: Expression


def tensor(*shape: Any, width: Any) -> Any:
    """The bytes of a tensor in a ledger row: `tensor(self.seq_len, self.microbatch, self.workload.hidden_dim, width=self.compute_width)`."""
    return Tensor(shape, width)


class SavedTensor(Derived[T]):
    """A quantity that is a row of the ledger.

    operation: what the forward pass computed; tensor: what of it is kept. Its docstring says why the backward pass needs it.
    """

    operation: str = ""
    tensor: str = ""


def saved(operation: str, kept: str, symbol: str, *, source: str) -> Callable[[Callable[[Any], T]], Derived[T]]:
    """Declare a row of the ledger by a formula that gives `tensor(...)`, or a case of several: otherwise as `derived`, in bytes."""
    def declare(formula: Callable[[Any], T]) -> Derived[T]:
        row: SavedTensor[T] = SavedTensor(formula, symbol, "byte", source)
        row.operation, row.tensor = operation, kept
        return row
    return declare


def tensor_of(row: Derived[Any], record: Any) -> Tensor | None:
    """The tensor that a row holds with a record's inputs; None where it holds none. Raises Absent where it waits for an input."""
    formula = row.expression
    while isinstance(formula, Case):
        formula = next((value for condition, value in formula.branches if scalar(condition)(record)), formula.otherwise)
    return formula if isinstance(formula, Tensor) else None


__all__ = ["SavedTensor", "Tensor", "WIDTHS", "saved", "tensor", "tensor_of"]
