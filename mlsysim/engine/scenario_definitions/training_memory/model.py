"""The model of training memory as one call: a workload, a device and a layout in, a scenario out."""
from __future__ import annotations

from typing import Any, Never

from ....hardware import HardwareNode
from ....models import Workload
from .ledger import LedgerTrainingMemoryScenario
from .scenario import TrainingMemoryScenario


class TrainingMemoryModel:
    """What training holds in the memory of one accelerator, part by part.

    Whether a model fits for training is another question than whether its weights fit for inference: gradients, optimizer
    state, activations and communication buffers come on top. Sources: Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053 (state under
    tensor and pipeline parallelism); Rajbhandari et al. 2020, ZeRO, arXiv:1910.02054 (state shared by data-parallel ranks);
    Korthikanti et al. 2023, arXiv:2205.05198 (activations and their recomputation).
    """

    def solve(
        self,
        model: Workload,
        hardware: HardwareNode | None,
        batch_size: int,
        seq_len: int = 2048,
        precision: str = "fp16",
        optimizer: str = "adam",
        activation_checkpointing: str = "selective",
        tp_size: int = 1,
        pp_size: int = 1,
        dp_size: int = 1,
        ep_size: int = 1,
        zero_stage: int = 0,
        gradient_accumulation_steps: int = 1,
        trainable_fraction: float = 1.0,
        communication_buffer_fraction: float = 0.05,
        *,
        sequence_parallel: bool = True,
        interleaved_chunks: int = 1,
        activation_model: str = "korthikanti",
        gradient_precision: str | None = None,
        master_weights: bool | None = None,
        fp32_gradient_copy: bool = False,
        optimizer_state_precision: str | None = None,
        quantization_block: int = 2048,
        **misspelt: Never,
    ) -> TrainingMemoryScenario | LedgerTrainingMemoryScenario:
        """The training memory of one accelerator, as a scenario.

        Parameters
        ----------
        model: the workload that is trained; a parameter count alone answers for weights, gradients and optimizer state.
        hardware: the accelerator; None leaves what compares with its memory waiting.
        batch_size: the global batch, in sequences; a rank's microbatch is its share of one accumulation step, rounded up.
        seq_len: tokens of a sequence.
        precision: number format of the weights: fp32, tf32, bf16, fp16, fp8, or int8, int4, nf4 for frozen ones.
        optimizer: adam, adamw, sgd, sgd_momentum, lion, adam_8bit, adafactor, muon or none.
        activation_checkpointing: none, selective or full.
        tp_size, pp_size, dp_size, ep_size: ranks of tensor, pipeline, data and expert parallelism; the world is their product.
        zero_stage: 0 to 3.
        gradient_accumulation_steps: microbatches of a step, which are also those of the pipeline.
        trainable_fraction: share of the parameters that are trained, 0 to 1.
        communication_buffer_fraction: gradient buffers as a share of the gradients on a rank.
        sequence_parallel: whether tensor-parallel ranks divide all of a layer's activations.
        interleaved_chunks: chunks of layers in each pipeline stage.
        activation_model: korthikanti, or megatron for 18 + 4f/h bytes an element, or ledger for what each operation saves, tensor by
            tensor, which gives a LedgerTrainingMemoryScenario.
        gradient_precision: number format of the gradients; the weights' own where None.
        master_weights: whether there is an fp32 copy of the weights; where None, for weights narrower than fp32.
        fp32_gradient_copy: whether the optimizer keeps fp32 gradients beside 16-bit ones.
        optimizer_state_precision: number format of what the optimizer keeps; fp32 where None, int8 for adam_8bit.
        quantization_block: values of an 8-bit optimizer state that share one scale.

        Raises InputError for a value, an option or a layout that cannot be, with what to write instead.
        """
        kind: Any = LedgerTrainingMemoryScenario if activation_model == "ledger" else TrainingMemoryScenario
        made: TrainingMemoryScenario | LedgerTrainingMemoryScenario = kind(
            workload=model, hardware=hardware, batch_size=batch_size, seq_len=seq_len, precision=precision, optimizer=optimizer,
            activation_checkpointing=activation_checkpointing, tp_size=tp_size, pp_size=pp_size, dp_size=dp_size, ep_size=ep_size, zero_stage=zero_stage,
            gradient_accumulation_steps=gradient_accumulation_steps, trainable_fraction=trainable_fraction,
            communication_buffer_fraction=communication_buffer_fraction, sequence_parallel=sequence_parallel, interleaved_chunks=interleaved_chunks,
            activation_model=activation_model, gradient_precision=gradient_precision, master_weights=master_weights, fp32_gradient_copy=fp32_gradient_copy,
            optimizer_state_precision=optimizer_state_precision, quantization_block=quantization_block, **misspelt)
        return made

    def __repr__(self) -> str:
        return "TrainingMemoryModel()"


__all__ = ["TrainingMemoryModel"]
