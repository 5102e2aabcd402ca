"""Measures every case on this machine and writes the figures that the ordinary tests are held against: python -m tests.measure.record."""
from __future__ import annotations

import json
from pathlib import Path

import torch
import transformers

from mlsysim.measure import compare_block, compare_model, compare_stored_state
from mlsysim.measure.comparison import model_and_loss, parameter_shapes

from .cases import blocks, models, stored

FACTS = Path(__file__).resolve().parents[1] / "facts" / "measured_activations.json"


def main() -> None:
    torch.manual_seed(0)
    facts = {
        "about": "Bytes counted by mlsysim.measure on a CPU; tests/measure/cases.py says of what, by name; python -m tests.measure.record writes this file.",
        "torch": torch.__version__, "transformers": transformers.__version__,
        "blocks": {name: compare_block(scenario).measured for name, scenario in blocks()},
        "models": {name: compare_model(scenario).measured for name, scenario in models()},
        "stored": {},
    }
    for name, scenario, optimizer in stored():
        matrices, vectors = parameter_shapes(model_and_loss(scenario)[0])
        facts["stored"][name] = {
            "optimizer": optimizer, "precision": scenario.precision, "matrices": [[m.out_dim, m.in_dim, m.count] for m in matrices], "vectors": [[v.length, v.count] for v in vectors],
            "measured": {comparison.what.rpartition(": ")[2]: comparison.measured for comparison in compare_stored_state(scenario, optimizer)}}
    text = json.dumps(facts, indent=1)
    FACTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
