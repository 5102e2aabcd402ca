"""The changes that are tried where a training step does not fit, from the gentlest on, each with what it costs."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...inputs import InputError
from ...scenario_parts.fitting import Change
from ...solving import NoSolutionError, solve_for

# In this order: what leaves every update as it is and adds no operations; what adds operations or communication; what changes the
# numbers; what needs another batch or more hardware.


def changes(step: Any) -> Iterator[Change]:
    """Every change that can be made, whether it makes the step fit or not."""
    for said, inputs, price in _choices(step):
        if change := _changed(step, said, inputs, price):
            yield change
    for solved in (_accumulation, _stage, _offload, _narrower, _optimizers, _batch, _ranks):
        yield from solved(step)


def _changed(step: Any, said: str, inputs: dict[str, Any], price: str | Callable[[Any], str]) -> Change | None:
    try:
        made = step.variant(**inputs)
        return Change(said, inputs, price if isinstance(price, str) else price(made), made)
    except InputError:
        return None


def _one(step: Any, said: str, inputs: dict[str, Any], price: str | Callable[[Any], str]) -> Iterator[Change]:
    if change := _changed(step, said, inputs, price):
        yield change


def _again(made: Any) -> str:
    return f"{made.figure_text('recomputation_share')} more operations"


def _choices(step: Any) -> Iterator[tuple[str, dict[str, Any], Any]]:
    if step.gathers_whole_model_to_load:
        yield "a checkpoint loaded shard by shard", {"gathers_whole_model_to_load": False}, "none: another way of loading"
    if step.attention == "eager":
        yield "fused attention", {"attention": "fused"}, "none: the same attention, another kernel"
    if step.cross_entropy == "whole" and step.output_rows:
        yield "a fused loss", {"cross_entropy": "fused"}, "none but a kernel: logits in chunks, their gradients computed with the loss"
    if step.foreach and step.optimizer in ("adam", "adamw"):
        yield "an update tensor by tensor", {"foreach": False}, "a slower update: a kernel for each tensor"
    if step.attention == "eager" and step.activation_checkpointing == "none":
        yield "selective recomputation", {"activation_checkpointing": "selective"}, _again
    if step.activation_checkpointing != "full":
        yield "full recomputation", {"activation_checkpointing": "full"}, _again
        yield "full recomputation and a fused loss", {"activation_checkpointing": "full", "cross_entropy": "fused"}, _again


def _solved(step: Any, name: str, **end: bool) -> Any:
    """The value of an input at which the step fits; None where there is none."""
    try:
        return solve_for(step, name, fits_with_most=True, **end)
    except (NoSolutionError, InputError):
        return None


def _accumulation(step: Any) -> Iterator[Change]:
    steps = _solved(step, "gradient_accumulation_steps", smallest=True)
    if steps and steps > step.gradient_accumulation_steps:
        yield from _one(step, f"{steps} microbatches a step", {"gradient_accumulation_steps": steps}, lambda made: f"smaller products: microbatches of {made.microbatch} in place of {step.microbatch}")


def _stage(step: Any) -> Iterator[Change]:
    if step.data_parallel_ranks > 1 and (stage := _solved(step, "zero_stage", smallest=True)) and stage > step.zero_stage:
        yield from _one(step, f"ZeRO stage {stage}", {"zero_stage": stage}, "half as much communication again" if stage == 3 else "none: as much communication as before")


def _offload(step: Any) -> Iterator[Change]:
    if not step.offload_optimizer:
        yield from _one(step, "the optimizer on the host", {"offload_optimizer": True}, lambda made: f"{made.figure_text('host_memory')} of the host's memory, and its slower update")


def _narrower(step: Any) -> Iterator[Change]:
    if step.precision == "fp32" and step.compute_precision == "fp32":
        yield from _one(step, "autocast", {"compute_precision": "autocast"}, "16-bit products: rounding")
        yield from _one(step, "bf16 weights", {"precision": "bf16", "compute_precision": "bf16"}, "16-bit weights and gradients, beside an fp32 master copy")


def _optimizers(step: Any) -> Iterator[Change]:
    if step.optimizer in ("adam", "adamw"):
        yield from _one(step, "8-bit Adam", {"optimizer": "adam_8bit", "optimizer_state_precision": "int8"}, "moments in 8 bits: rounding")
        yield from _one(step, "Adafactor", {"optimizer": "adafactor"}, "another update rule: no first moment, second moments by row and column")


def _batch(step: Any) -> Iterator[Change]:
    batch = _solved(step, "batch_size", largest=True)
    if batch and batch < step.batch_size:
        yield from _one(step, f"a batch of {batch}", {"batch_size": batch}, f"another batch: {batch} in place of {step.batch_size}")


def _ranks(step: Any) -> Iterator[Change]:
    divided = _changed(step, "", {"zero_stage": 3}, "")
    ranks = _solved(divided.made, "dp_size", smallest=True) if divided else None
    if ranks and ranks > step.dp_size:
        yield from _one(step, f"ZeRO stage 3 on {ranks} ranks", {"zero_stage": 3, "dp_size": ranks}, f"{ranks} accelerators in place of {step.dp_size}, half as much communication again")


__all__ = ["changes"]
