"""Measures one block or one model from the command line, and prints prediction and measurement side by side.

    python -m mlsysim.measure block --seq-len 256 --microbatch 2 --hidden-dim 256 --heads 8 --attention eager
    python -m mlsysim.measure block --llama --kv-heads 2 --feedforward-dim 704 --precision fp32
    python -m mlsysim.measure model GPT2_Small --seq-len 128 --optimizer adamw
"""
from __future__ import annotations

import argparse
from typing import Any

from ..engine.inputs import InputError
from ..engine.scenario_definitions.activation_ledger import ActivationLedgerScenario
from ..models import Models, Workload
from . import Comparison, MeasureExtraMissing, NotBuiltHere, compare_block, compare_model, compare_stored_state

LLAMA: dict[str, Any] = {"norm": "rmsnorm", "gated_mlp": True, "positions": "rotary", "linear_biases": "none", "tied_embeddings": False}


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(prog="python -m mlsysim.measure", description="Count the bytes that autograd saves on this machine's CPU, beside what the ledger predicts.")
    chosen = parser.add_subparsers(dest="what", required=True)
    block = chosen.add_parser("block", help="one transformer block in plain PyTorch")
    block.add_argument("--hidden-dim", type=int, default=256)
    block.add_argument("--heads", type=int, default=8)
    block.add_argument("--kv-heads", type=int)
    block.add_argument("--feedforward-dim", type=int)
    block.add_argument("--llama", action="store_true", help="RMSNorm as one operation, a gated feed-forward part, rotary positions, no biases")
    model = chosen.add_parser("model", help="a whole transformers model with its loss, built from a workload of the catalogue, nothing downloaded")
    model.add_argument("name", help="a workload of Models.Language, such as GPT2_Small")
    model.add_argument("--layers", type=int, help="build fewer layers than the model has")
    model.add_argument("--optimizer", help="also step this optimizer, and count gradients, its state and a checkpoint")
    model.add_argument("--no-cache", action="store_true", help="run with use_cache=False")
    for either in (block, model):
        either.add_argument("--seq-len", type=int, default=256)
        either.add_argument("--microbatch", type=int, default=2)
        either.add_argument("--precision", default="bf16", choices=("bf16", "fp16", "fp32", "autocast"))
        either.add_argument("--attention", default="fused", choices=("fused", "eager"))
        either.add_argument("--dropout", action="store_true")
        either.add_argument("--storages", action="store_true", help="list what was saved, one storage a line")
    return parser


def comparisons(asked: argparse.Namespace) -> list[Comparison]:
    """What was asked for, measured."""
    shared: dict[str, Any] = {"seq_len": asked.seq_len, "microbatch": asked.microbatch, "precision": asked.precision, "attention": asked.attention, "kernels": "cpu", "attention_dropout": asked.dropout,
              "hidden_dropout": asked.dropout}
    if asked.what == "block":
        shape: dict[str, Any] = {name: value for name in ("hidden_dim", "heads", "kv_heads", "feedforward_dim") if (value := getattr(asked, name)) is not None}
        workload = Workload(name="Llama-style block" if asked.llama else "GPT-style block", layers=1, **shape, **(LLAMA if asked.llama else {}))
        code: dict[str, Any] = {"rmsnorm_code": "fused"} if asked.llama else {}
        return [compare_block(ActivationLedgerScenario(workload=workload, **shared, **code))]
    workload = getattr(Models.Language, asked.name)
    if asked.layers:
        workload = workload.variant(layers=asked.layers)
    scenario = ActivationLedgerScenario(workload=workload, embedding_dropout=asked.dropout, key_value_cache=not asked.no_cache, **shared)
    return [compare_model(scenario), *(compare_stored_state(scenario, asked.optimizer) if asked.optimizer else ())]


def main() -> None:
    """Parse, measure, print; what a person can mend is said without a traceback."""
    asked = arguments().parse_args()
    try:
        measured = comparisons(asked)
    except (InputError, MeasureExtraMissing, NotBuiltHere, AttributeError, ValueError) as error:
        raise SystemExit(f"mlsysim.measure: {error}") from None
    for comparison in measured:
        print(comparison)
        if asked.storages:
            print(*(f"    {' x '.join(map(str, storage.shape)) or 'one number':<24} {storage.dtype:<10} {storage.size:>15,} B" for storage in comparison.storages), sep="\n")


if __name__ == "__main__":
    main()
