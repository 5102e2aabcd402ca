"""The measuring tool on this machine: what it counts, that it still counts what is committed, and that blocks it runs keep what the ledger says in any combination."""

import random
from typing import Any

import pytest

from mlsysim.measure.libraries import library

torch = library("torch")      # without the extra `measure` this run fails here, in words; it never skips

from mlsysim.engine.scenario_types import ActivationLedgerScenario      # noqa: E402
from mlsysim.measure import NotBuiltHere, SavedTensors, compare_block, compare_model, compare_peak, compare_stored_state, measure_step, peak_bytes      # noqa: E402
from mlsysim.measure.blocks import Block      # noqa: E402
from mlsysim.models import Models, Workload      # noqa: E402

from ..test_activation_ledger import MEASURED      # noqa: E402
from .cases import SMALL_LLAMA, blocks, models, stored      # noqa: E402


pytestmark = pytest.mark.measure


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    torch.manual_seed(0)


# What is counted.

def test_a_storage_counts_once_and_whole_and_parameters_do_not() -> None:
    weight = torch.nn.Parameter(torch.randn(8, 8))
    x = torch.randn(4, 8, requires_grad=True)
    with SavedTensors(excluding=[weight]) as saved:
        y = x @ weight      # keeps x and the weight
        z = y[:1] * y[1:2]      # keeps two views of one storage
    assert saved.bytes == 4 * 8 * 4 + 4 * 8 * 4 and [storage.size for storage in saved.storages] == [128, 128]
    z.sum().backward()
    assert weight.grad is not None and x.grad is not None


def test_a_step_counts_gradients_state_and_file() -> None:
    layer = torch.nn.Linear(64, 32)
    step = measure_step(layer, lambda: layer(torch.randn(4, 64)).square().sum(), "adam")
    parameters = 64 * 32 + 32
    assert (step.weights, step.gradients, step.optimizer_state) == (4 * parameters, 4 * parameters, 8 * parameters + 2 * 4)
    assert step.checkpoint_tensors == 12 * parameters + 8 < step.checkpoint_file < 12 * parameters + 8000
    with pytest.raises(ValueError, match="'adamm' is not one of sgd, "):
        measure_step(layer, lambda: layer(torch.randn(4, 64)).sum(), "adamm")


# Against what is committed, and against the ledger.

@pytest.mark.parametrize("name, step", list(blocks()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_block(name: str, step: ActivationLedgerScenario) -> None:
    compared = compare_block(step)
    assert compared.measured == MEASURED["blocks"][name] and compared.predicted == compared.measured


@pytest.mark.parametrize("name, step", list(models()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_whole_model(name: str, step: ActivationLedgerScenario) -> None:
    compared = compare_model(step)
    assert compared.measured == MEASURED["models"][name] and compared.measured - compared.predicted == (12 if step.microbatch == 1 else 4)


@pytest.mark.parametrize("name, step, optimizer", list(stored()), ids=lambda value: value if isinstance(value, str) else "")
def test_stored_state(name: str, step: ActivationLedgerScenario, optimizer: str) -> None:
    *in_memory, file = compare_stored_state(step, optimizer)
    assert all(compared.predicted == compared.measured for compared in in_memory)
    assert abs(file.error) < 0.01 and file.measured == MEASURED["stored"][name]["measured"]["checkpoint file"]


def combination(seed: int) -> ActivationLedgerScenario:
    chosen = random.Random(seed)
    architecture: dict[str, Any] = {
        "kv_heads": chosen.choice((2, 4, 8)), "head_dim": chosen.choice((8, 16)), "feedforward_dim": chosen.choice((48, 256)), "norm": chosen.choice(("layernorm", "rmsnorm")),
        "gated_mlp": chosen.random() < 0.5, "positions": chosen.choice(("learned", "rotary")), "linear_biases": chosen.choice(("all", "qkv", "none")), "qk_norm": chosen.random() < 0.3}
    options: dict[str, Any] = {
        "seq_len": chosen.choice((32, 40)), "microbatch": chosen.choice((1, 3)), "precision": chosen.choice(("bf16", "fp16", "fp32", "autocast")), "attention": chosen.choice(("eager", "fused")),
        "attention_dropout": chosen.random() < 0.4, "hidden_dropout": chosen.random() < 0.4, "activation_function": chosen.choice(("gelu", "gelu_new", "silu", "relu")),
        "rmsnorm_code": chosen.choice(("fused", "composite", "transformers")), "joint_projection": chosen.random() < 0.5, "causal_mask": chosen.choice(("filled", "added")),
        "softmax_in_fp32": chosen.random() < 0.3, "key_value_cache": chosen.random() < 0.3}
    return ActivationLedgerScenario(workload=Workload(name=f"combination {seed}", layers=1, hidden_dim=64, heads=8, **architecture), kernels="cpu", **options)


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")
@pytest.mark.parametrize("seed", range(300))
def test_a_block_in_any_combination(seed: int) -> None:
    compared = compare_block(combination(seed))
    assert compared.predicted == compared.measured, "\n".join(map(str, (combination(seed), *compared.storages)))


# Recomputation.

@pytest.mark.parametrize("together", [1, 2, 4])
def test_recomputed_layers_keep_inputs_and_live_together(together: int) -> None:
    step = ActivationLedgerScenario(workload=Workload(name="four blocks", layers=4, hidden_dim=64, heads=4), seq_len=48, microbatch=2, kernels="cpu", attention="eager",
                                    activation_checkpointing="full", layers_per_checkpoint=together)
    layers = torch.nn.ModuleList(Block(step) for _ in range(4)).to(torch.bfloat16)
    x = torch.randn(2, 48, 64, dtype=torch.bfloat16, requires_grad=True)

    def group(first: int) -> Any:
        def run(x: Any) -> Any:
            for layer in layers[first:first + together]:
                x = layer(x)
            return x
        return run

    with SavedTensors(excluding=layers.parameters()) as kept:
        y = x
        for first in range(0, 4, together):
            y = torch.utils.checkpoint.checkpoint(group(first), y, use_reentrant=True)
    assert kept.bytes == step.stored_activations.m_as("byte")
    with SavedTensors(excluding=[*layers.parameters(), *kept.held]) as live:
        y.sum().backward()
    assert live.bytes == 4 / together * step.live_activations.m_as("byte")


@pytest.mark.parametrize("precision", ["bf16", "fp32"])
@pytest.mark.parametrize("held", [True, False])
def test_the_loss_is_the_peak_of_a_small_model_with_many_words(precision: str, held: bool) -> None:
    """Within a hundredth: log-probabilities, two gradients as large, and the logits where the loop still holds them."""
    wordy = SMALL_LLAMA.variant(layers=1, hidden_dim=64, heads=4, kv_heads=4, vocabulary=32000)
    step = ActivationLedgerScenario(workload=wordy, seq_len=256, precision=precision, kernels="cpu", logits_held=held)
    assert abs(compare_peak(step).error) < 0.01


def test_a_chunked_loss_holds_three_numbers_for_each_logit_of_a_chunk() -> None:
    """Output layer and cross-entropy in chunks that are computed again: nothing but the inputs is kept, and a chunk's buffers are live beside the gradients of parameters and input."""
    tokens, hidden, words, chunks = 1024, 64, 8000, 8
    step = ActivationLedgerScenario(workload=Workload(name="a head", layers=1, hidden_dim=hidden, heads=1, vocabulary=words), seq_len=tokens, kernels="cpu", cross_entropy="chunked",
                                    loss_chunks=chunks)
    x = torch.randn(tokens, hidden, dtype=torch.bfloat16, requires_grad=True)
    weight, labels = torch.nn.Parameter(torch.randn(words, hidden, dtype=torch.bfloat16)), torch.randint(0, words, (tokens,))

    def chunk(x: Any, labels: Any) -> Any:
        return torch.nn.functional.cross_entropy((x @ weight.T).float(), labels, reduction="sum")

    def loss() -> Any:
        return sum(torch.utils.checkpoint.checkpoint(chunk, *part, use_reentrant=False) for part in zip(x.chunk(chunks), labels.chunk(chunks)))

    with SavedTensors(excluding=[weight]) as saved:
        loss()
    assert saved.bytes == (step.head_input + step.labels).m_as("byte")
    gradients = 2 * (words * hidden + tokens * hidden)
    assert abs(step.loss_buffers.m_as("byte") / (peak_bytes(lambda: loss().backward()) - gradients) - 1) < 0.01


# What it refuses.

def test_it_says_what_it_cannot_run() -> None:
    with pytest.raises(ValueError, match='kernels="cpu"'):
        compare_block(ActivationLedgerScenario(workload=Models.Language.GPT2_Small))
    with pytest.raises(NotBuiltHere, match="Falcon-7B: this tool builds"):
        compare_model(ActivationLedgerScenario(workload=Models.Language.Falcon_7B, kernels="cpu"))
