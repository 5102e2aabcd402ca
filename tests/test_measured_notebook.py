"""The notebook of measurements where PyTorch may be absent: what it says then, and whether the figures saved in it are still those that are predicted and committed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from mlsysim.engine.scenario_types import ActivationLedgerScenario, ParameterMatrix, ParameterVector, StoredStateScenario
from mlsysim.measure import skipping
from mlsysim.measure.models import as_transformers_runs

from .measure.cases import SMALL_LLAMA, blocks
from .notebooks.files import REPOSITORY, code_cells, read

NOTEBOOK = read(REPOSITORY / "notebooks" / "measured" / "measure_it_yourself.ipynb")
MEASURED: dict[str, Any] = json.loads((Path(__file__).with_name("facts") / "measured_activations.json").read_text())
LINE = re.compile(r"^(?P<what>\S.*?) +(?P<predicted>[\d,]+) B +(?P<measured>[\d,]+) B ", re.MULTILINE)


def saved() -> dict[str, tuple[float, int]]:
    """What the notebook's tables say was predicted and measured, by what it is of."""
    shown = "\n".join(output.get("data", {}).get("text/plain", "") for _, cell in code_cells(NOTEBOOK) for output in cell.outputs)
    return {line["what"]: (float(line["predicted"].replace(",", "")), int(line["measured"].replace(",", ""))) for line in LINE.finditer(shown)}


BLOCKS = {what: what.replace("GPT-style block, ", "gpt 0 ").replace(", ", " ") for what in saved() if what.startswith("GPT-style block")}


def test_it_measures_blocks_with_and_without_dropout_and_in_both_widths() -> None:
    assert {"GPT-style block, bf16, fused", "GPT-style block, fp32, eager", "GPT-style block, bf16, fused, dropout"} <= BLOCKS.keys()


@pytest.mark.parametrize("what", BLOCKS)
def test_blocks_are_as_committed_and_as_the_ledger_predicts(what: str) -> None:
    predicted, measured = saved()[what]
    assert predicted == dict(blocks())[BLOCKS[what]].whole_layer_activations.m_as("byte")
    assert measured == MEASURED["blocks"][BLOCKS[what]]


def test_the_step_is_what_the_shapes_of_the_block_say() -> None:
    """A block of width 256: a joint projection and three more matrices with their biases, and two normalizations with a weight and a bias."""
    matrices = tuple(ParameterMatrix(name="matrix", out_dim=rows, in_dim=columns) for rows, columns in ((768, 256), (256, 256), (1024, 256), (256, 1024)))
    state = StoredStateScenario(matrices=matrices, vectors=(ParameterVector(name="256", length=256, count=6), ParameterVector(name="768", length=768), ParameterVector(name="1024", length=1024)))
    table = saved()
    for what in ("weights", "gradients", "optimizer state", "checkpoint tensors"):
        assert table[what] == (getattr(state, what.replace(" ", "_")).m_as("byte"),) * 2, what
    assert table["activations"] == table["GPT-style block, fp32, eager"]
    predicted, measured = table["checkpoint file"]
    assert predicted == state.checkpoint_file.m_as("byte") and abs(predicted / measured - 1) < 0.01


def test_the_whole_model_is_what_the_ledger_predicts() -> None:
    """But for one fp32 number, by which the loss divides."""
    step = as_transformers_runs(ActivationLedgerScenario(workload=SMALL_LLAMA.variant(vocabulary=32000), seq_len=128, microbatch=2))
    predicted, measured = saved()["small Llama (llama), bf16, fused"]
    assert predicted == step.activations.m_as("byte") == measured - 4


def test_without_the_extra_it_says_what_to_install_and_skips_the_rest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    missing = ["PyTorch"]
    monkeypatch.setattr(skipping, "lacking", lambda: missing)
    shell = InteractiveShell.instance()
    try:
        first, *others = [cell.source for _, cell in code_cells(NOTEBOOK)]
        assert shell.run_cell(first).success
        told = capsys.readouterr().out
        assert told.startswith("PyTorch cannot be found here, and this notebook measures with it. All cells below are skipped.") and "pip install -e '.[measure]'" in told
        for source in others:
            assert shell.run_cell(source).success
            assert capsys.readouterr().out == "Skipped: PyTorch cannot be found here. Install the extra: pip install -e '.[measure]'\n"
        assert shell.run_cell("%who_ls").result is not None      # so that %pip install works
        missing.clear()
        assert shell.run_cell("6 * 7").result == 42      # once it is installed
    finally:
        InteractiveShell.clear_instance()
