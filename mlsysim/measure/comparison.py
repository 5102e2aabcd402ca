"""Prediction beside measurement: a scenario's ledger and the same block or model run on this machine."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..engine.scenario_definitions.activation_ledger import ActivationLedgerScenario
from ..engine.scenario_definitions.stored_state import ParameterMatrix, ParameterVector, StoredStateScenario
from .libraries import library
from .models import as_transformers_runs, family, model
from .peak import peak_bytes
from .saved import SavedTensors, Storage
from .state import Step, measure_step

FORMATS = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "autocast": "float32"}


@dataclass(frozen=True)
class Comparison:
    """One figure predicted and measured, in bytes; storages: what was measured, one by one, where they were counted."""
    what: str
    predicted: float
    measured: int
    storages: tuple[Storage, ...] = ()

    @property
    def error(self) -> float:
        """How far the prediction is from the measurement, as a share of it."""
        return self.predicted / self.measured - 1 if self.measured else 0.0 if self.predicted == 0 else float("inf")

    def __str__(self) -> str:
        return f"{self.what:<60} predicted {self.predicted:>15,.0f} B   measured {self.measured:>15,} B   {self.error:+.3%}"


def _on_this_machine(scenario: ActivationLedgerScenario) -> None:
    if scenario.kernels != "cpu" or scenario.tp_size != 1:
        raise ValueError(f"a measurement runs on this machine's CPU, alone; write {type(scenario).__name__}(..., kernels=\"cpu\") and leave tp_size at 1")


def _region(scenario: ActivationLedgerScenario) -> Any:
    torch = library("torch")
    return torch.autocast("cpu", torch.bfloat16) if scenario.precision == "autocast" else contextlib.nullcontext()


def block_and_loss(scenario: ActivationLedgerScenario) -> tuple[Any, Callable[[], Any]]:
    """One block in plain PyTorch as a scenario's inputs say, and its forward pass on random inputs, whose sum stands for a loss: it keeps nothing of its own."""
    torch = library("torch")
    from .blocks import Block, rotary_tables
    dtype = getattr(torch, FORMATS[scenario.precision])
    block = Block(scenario).to(dtype).train()
    x = torch.randn(scenario.microbatch, scenario.seq_len, scenario.workload.hidden_dim, dtype=dtype, requires_grad=True)
    tables = rotary_tables(scenario.at("seq_len"), scenario.at("workload.head_dim"), dtype) if scenario.workload.positions == "rotary" else ()

    def loss() -> Any:
        with _region(scenario):
            result = block(x, tables)
        return result.float().sum()
    return block, loss


def _block_activations(scenario: ActivationLedgerScenario) -> float:
    """The prediction for a block that stands alone, in bytes: its input counts, and of the rows beside the layer the rotary tables and the cast weights."""
    kept = scenario.whole_layer_activations + scenario.rotary_tables + scenario.attention_weight_copies + scenario.feedforward_weight_copies
    return float(kept.m_as("byte"))


def compare_block(scenario: ActivationLedgerScenario) -> Comparison:
    """Run one block in plain PyTorch as a scenario's inputs say, with random weights and inputs, and count what autograd saves.

    The block stands alone: its input counts, and of the rows beside the layer the rotary tables and the cast weights.
    Raises ValueError for kernels that are not this machine's, MeasureExtraMissing where PyTorch is not installed.
    """
    _on_this_machine(scenario)
    block, loss = block_and_loss(scenario)
    with SavedTensors(excluding=block.parameters()) as saved:
        value = loss()
    value.backward()
    dropout = ", dropout" if scenario.attention_dropout or scenario.hidden_dropout else ""
    return Comparison(f"{scenario.workload.name}, {scenario.precision}, {scenario.attention}{dropout}", _block_activations(scenario), saved.bytes, saved.storages)


def compare_block_step(scenario: ActivationLedgerScenario, optimizer: str = "adamw") -> tuple[Comparison, ...]:
    """Run one training step of a block: what autograd saves, then gradients, optimizer state, a checkpoint's tensors and its file on disk.

    Raises as `compare_block` and `measure_step` do.
    """
    _on_this_machine(scenario)
    block, loss = block_and_loss(scenario)
    step = measure_step(block, loss, optimizer)
    return Comparison("activations", _block_activations(scenario), step.saved_bytes, step.saved), *_stored(block, scenario, optimizer, step)


def model_and_loss(scenario: ActivationLedgerScenario) -> tuple[Any, Callable[[], Any]]:
    """A transformers model as a scenario describes it, and its forward pass with the loss on random tokens."""
    torch = library("torch")
    made = model(scenario)
    tokens = torch.randint(0, scenario.workload.vocabulary, (scenario.microbatch, scenario.seq_len))

    def loss() -> Any:
        with _region(scenario):
            output = made(input_ids=tokens, labels=tokens, use_cache=scenario.key_value_cache)
        if scenario.logits_held:
            held.append(output)
        return output.loss
    held: list[Any] = []
    return made, loss


def compare_model(scenario: ActivationLedgerScenario) -> Comparison:
    """Build a whole transformers model from a scenario's workload, run it with its loss, and count what autograd saves.

    What transformers' code decides is taken from it, whatever the scenario says (`as_transformers_runs`). Raises NotBuiltHere
    for an architecture that this tool doesn't build, MeasureExtraMissing where a library is not installed.
    """
    scenario = as_transformers_runs(scenario)
    _on_this_machine(scenario)
    made, loss = model_and_loss(scenario)
    with SavedTensors(excluding=made.parameters()) as saved:
        loss().backward()
    return Comparison(f"{scenario.workload.name} ({family(scenario.workload)}), {scenario.precision}, {scenario.attention}", scenario.activations.m_as("byte"), saved.bytes, saved.storages)


def compare_peak(scenario: ActivationLedgerScenario) -> Comparison:
    """Build a whole transformers model, run it with its loss, forward and backward, and count the most that PyTorch's allocator held at once.

    The prediction is the ledger's `peak_activations`. Gradients of parameters are in the measurement and not in it, so the two
    compare where the peak is at the loss, before there are any. Raises as `compare_model` does.
    """
    scenario = as_transformers_runs(scenario)
    _on_this_machine(scenario)
    made, loss = model_and_loss(scenario)
    peak = peak_bytes(lambda: loss().backward())
    return Comparison(f"{scenario.workload.name} ({family(scenario.workload)}), {scenario.precision}, peak", scenario.peak_activations.m_as("byte"), peak)


def parameter_shapes(of: Any) -> tuple[list[ParameterMatrix], list[ParameterVector]]:
    """The shapes of a model's parameter tensors, tied ones once. Raises ValueError for one that is neither a matrix nor a vector."""
    counts: dict[tuple[int, ...], int] = {}
    for name, parameter in of.named_parameters():
        if parameter.dim() not in (1, 2):
            raise ValueError(f"{name} has {parameter.dim()} dimensions; only matrices and vectors are described")
        counts[tuple(parameter.shape)] = counts.get(tuple(parameter.shape), 0) + 1
    matrices = [ParameterMatrix(name=f"{shape[0]} x {shape[1]}", out_dim=shape[0], in_dim=shape[1], count=count) for shape, count in counts.items() if len(shape) == 2]
    return matrices, [ParameterVector(name=f"{shape[0]}", length=shape[0], count=count) for shape, count in counts.items() if len(shape) == 1]


def _stored(of: Any, scenario: ActivationLedgerScenario, optimizer: str, step: Step) -> Iterator[Comparison]:
    """What a model or block was measured to hold beside activations, next to what the shapes of its parameters say."""
    matrices, vectors = parameter_shapes(of)
    stored = StoredStateScenario(matrices=tuple(matrices), vectors=tuple(vectors), precision="fp32" if scenario.precision == "autocast" else scenario.precision, optimizer=optimizer)
    yield Comparison("weights", stored.weights.m_as("byte"), step.weights)
    yield Comparison("gradients", stored.gradients.m_as("byte"), step.gradients)
    yield Comparison("optimizer state", stored.optimizer_state.m_as("byte"), step.optimizer_state)
    yield Comparison("checkpoint tensors", stored.checkpoint_tensors.m_as("byte"), step.checkpoint_tensors)
    yield Comparison("checkpoint file", stored.checkpoint_file.m_as("byte"), step.checkpoint_file)


def compare_stored_state(scenario: ActivationLedgerScenario, optimizer: str) -> tuple[Comparison, ...]:
    """Step a model with an optimizer, and count gradients, optimizer state, a checkpoint's tensors and its file on disk."""
    made, loss = model_and_loss(scenario)
    label = f"{scenario.workload.name}, {scenario.precision}, {optimizer}: "
    return tuple(replace(compared, what=label + compared.what) for compared in _stored(made, scenario, optimizer, measure_step(made, loss, optimizer)))


__all__ = ["Comparison", "block_and_loss", "compare_block", "compare_block_step", "compare_model", "compare_peak", "compare_stored_state", "model_and_loss", "parameter_shapes"]
