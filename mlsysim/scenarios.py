"""The shelf of ready-made scenarios, each made when it is first asked for."""
from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .engine.scenario import Scenario
from .engine.scenario_types import CheckpointIntervalScenario, TrainingStateFitScenario
from .engine.solver import TrainingMemoryModel
from .hardware import Hardware
from .models import Models, Workload
from .units import Quantity

LLAMA_RUN = "Llama Team 2024, The Llama 3 Herd of Models, arXiv:2407.21783"
KOKOLIS = "Kokolis et al. 2025, arXiv:2410.21680"
BLOOM = "Bekman, Machine Learning Engineering, training/checkpoints"

S = TypeVar("S", bound=Scenario)


class Entry(Generic[S]):
    """A scenario of the shelf; read, it is the scenario."""

    def __init__(self, make: Callable[[Any], S]):
        self.make, self.doc = make, " ".join((make.__doc__ or "").split())
        self.__doc__ = self.doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, shelf: None, owner: type) -> Entry[S]: ...
    @overload
    def __get__(self, shelf: Shelf, owner: type) -> S: ...
    def __get__(self, shelf: Any, owner: type) -> Any:
        if shelf is None:
            return self
        scenario = self.make(shelf).addressed(f"Scenarios.{self.name}")
        shelf.__dict__[self.name] = scenario      # the next read finds it there
        return scenario


def _layers(workload: Workload, batch_size: int, seq_len: int, activation_checkpointing: str, precision: str = "fp16") -> Quantity:
    """The activations that all transformer layers save, on one device."""
    return TrainingMemoryModel().solve(workload, Hardware.Cloud.H100, batch_size, seq_len=seq_len, precision=precision,
                                       activation_checkpointing=activation_checkpointing).activations


def _mixed_precision_state(workload: Workload) -> Quantity:
    """What a mixed-precision run with Adam saves to resume."""
    return TrainingStateFitScenario(workload=workload, bytes_per_value="2 byte", optimizer_bytes_per_parameter="8 byte", master_bytes_per_parameter="4 byte").checkpoint


class Shelf:
    """Ready-made scenarios by name. Shown, it is a table; a name that misses suggests the near one."""

    @Entry
    def Gpt2Fp32AdamOnH100(self) -> TrainingStateFitScenario:
        """GPT-2 (1.5B) in FP32 with Adam: the state alone."""
        return TrainingStateFitScenario(workload=Models.Language.GPT2, hardware=Hardware.Cloud.H100, bytes_per_value="4 byte", optimizer_bytes_per_parameter="8 byte")

    @Entry
    def Gpt2Fp32AdamBatch32OnH100(self) -> TrainingStateFitScenario:
        """The same with the activations of 32 sequences of 1,024 tokens, nothing recomputed."""
        return self.Gpt2Fp32AdamOnH100.variant(batch_size=32, activations=_layers(Models.Language.GPT2, 32, 1024, "none", "fp32"))

    @Entry
    def Gpt2MixedPrecisionAdamOnH100(self) -> TrainingStateFitScenario:
        """GPT-2 (1.5B) in mixed precision with Adam and an FP32 master copy, 32 sequences of 1,024 tokens, nothing recomputed."""
        return TrainingStateFitScenario(workload=Models.Language.GPT2, hardware=Hardware.Cloud.H100, bytes_per_value="2 byte", optimizer_bytes_per_parameter="8 byte",
                                        master_bytes_per_parameter="4 byte", batch_size=32, activations=_layers(Models.Language.GPT2, 32, 1024, "none"))

    @Entry
    def Gpt2MixedPrecisionFlashAttentionOnH100(self) -> TrainingStateFitScenario:
        """The same with the attention scores recomputed, as fused attention does."""
        return self.Gpt2MixedPrecisionAdamOnH100.variant(activations=_layers(Models.Language.GPT2, 32, 1024, "selective"))

    @Entry
    def Gpt2MixedPrecisionSegmentCheckpointedOnH100(self) -> TrainingStateFitScenario:
        """The same with the 48 layers in 8 segments: each segment's input is kept, and one segment of 6 layers at a time is live."""
        segments, segment_layers = 8, 6
        layers = Models.Language.GPT2.layers
        kept = _layers(Models.Language.GPT2, 32, 1024, "full") * segments / layers
        live = _layers(Models.Language.GPT2, 32, 1024, "selective") * segment_layers / layers
        return self.Gpt2MixedPrecisionAdamOnH100.variant(activations=kept + live)

    @Entry
    def Gpt2MixedPrecisionTwoMicroBatchesOnH100(self) -> TrainingStateFitScenario:
        """The same batch of 32 in two microbatches of 16, whose gradients accumulate."""
        return self.Gpt2MixedPrecisionAdamOnH100.variant(batch_size=16, activations=_layers(Models.Language.GPT2, 16, 1024, "selective"))

    @Entry
    def Llama2_7BMixedPrecisionAdam(self) -> TrainingStateFitScenario:
        """Llama 2 7B in mixed precision with Adam: more state than an H100 holds."""
        return TrainingStateFitScenario(workload=Models.Language.Llama2_7B, hardware=Hardware.Cloud.H100, bytes_per_value="2 byte", optimizer_bytes_per_parameter="8 byte",
                                        master_bytes_per_parameter="4 byte")

    @Entry
    def Llama3_8BFullFineTuneOnH100(self) -> TrainingStateFitScenario:
        """Llama 3 8B, every parameter trained, 4 sequences of 2,048 tokens with the attention scores recomputed."""
        return TrainingStateFitScenario(workload=Models.Language.Llama3_8B, hardware=Hardware.Cloud.H100, bytes_per_value="2 byte", optimizer_bytes_per_parameter="8 byte",
                                        master_bytes_per_parameter="4 byte", batch_size=4, activations=_layers(Models.Language.Llama3_8B, 4, 2048, "selective"))

    @Entry
    def Llama3_8BLoraOnH100(self) -> TrainingStateFitScenario:
        """Llama 3 8B frozen, with rank-16 adapters on the query and value matrices, the same batch."""
        return self.Llama3_8BFullFineTuneOnH100.variant(adapter_parameters=6815744)

    @Entry
    def Rank16AdaptersOnHypothetical8B(self) -> TrainingStateFitScenario:
        """Rank-16 adapters on two square matrices a layer of a round 8-billion-parameter model, no device chosen."""
        return TrainingStateFitScenario(workload=Models.Language.Hypothetical8B, bytes_per_value="2 byte", optimizer_bytes_per_parameter="8 byte", master_bytes_per_parameter="4 byte",
                                        adapter_rank=16, adapted_matrices=2, adapter_in_dim=4096, adapter_out_dim=4096)

    @Entry
    def Rank32AdaptersOnHypothetical8B(self) -> TrainingStateFitScenario:
        """The same at rank 32."""
        return self.Rank16AdaptersOnHypothetical8B.variant(adapter_rank=32)

    @Entry
    def ResNet50Fp32AdamBatch64(self) -> TrainingStateFitScenario:
        """ResNet-50 in FP32 with Adam, 64 images whose activations take a round 8 GB."""
        return TrainingStateFitScenario(workload=Models.Vision.ResNet50, hardware=Hardware.Cloud.H100, bytes_per_value="4 byte", optimizer_bytes_per_parameter="8 byte", batch_size=64,
                                        activations="8 GB")

    @Entry
    def ResNet50Fp32AdamBatch64HighActivations(self) -> TrainingStateFitScenario:
        """The same with a round 12 GB of activations."""
        return self.ResNet50Fp32AdamBatch64.variant(activations="12 GB")

    @Entry
    def ResNet50Fp32AdamBatch512(self) -> TrainingStateFitScenario:
        """The same with 512 images, and so eight times the activations of 64."""
        return self.ResNet50Fp32AdamBatch64.variant(batch_size=512, activations=self.ResNet50Fp32AdamBatch64.activations_at(512))

    @Entry
    def ResNet50Fp32SgdMomentum(self) -> TrainingStateFitScenario:
        """ResNet-50 in FP32 with momentum, no device chosen."""
        return TrainingStateFitScenario(workload=Models.Vision.ResNet50, bytes_per_value="4 byte", optimizer_bytes_per_parameter="4 byte")

    @Entry
    def Gpt3CheckpointOn128Nodes(self) -> CheckpointIntervalScenario:
        """GPT-3's weights, master copy and optimizer state saved from 128 nodes of 8 GPUs, at measured failure and storage rates."""
        return CheckpointIntervalScenario(devices=128, observed_failures=650, observed_devices=1000, observed_time="100 day", checkpoint_size=_mixed_precision_state(Models.Language.GPT3),
                                          storage_bandwidth="57.5 GB/s", recovery_time="10 minute", training_time="30 day").citing({
            "observed_failures": f"{KOKOLIS}, section III: 6.50 failures per thousand node-days, nodes of 8 A100",
            "storage_bandwidth": f"{BLOOM}: 2.3 TB in 40 s",
            "recovery_time": "a round assumption"})

    @Entry
    def Llama3_405BRunOn16384H100(self) -> CheckpointIntervalScenario:
        """Llama 3 405B's published failures on up to 16,384 GPUs; its state written at the storage's sustained rate."""
        return CheckpointIntervalScenario(devices=16384, observed_failures=419, observed_devices=16384, observed_time="54 day", checkpoint_size=_mixed_precision_state(Models.Language.Llama3_405B),
                                          storage_bandwidth="2 TB/s", recovery_time="10 minute", training_time="54 day").citing({
            "observed_failures": f"{LLAMA_RUN}, section 3.3.4, table 5: unexpected interruptions",
            "observed_time": f"{LLAMA_RUN}, section 3.3.4",
            "observed_devices": f"{LLAMA_RUN}, up to 16K GPUs",
            "storage_bandwidth": f"{LLAMA_RUN}, section 3.3.1: sustained rate of Tectonic",
            "recovery_time": "a round assumption; the report gives no figure"})

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in vars(type(self)).items() if isinstance(value, Entry))

    def __dir__(self) -> list[str]:
        return list(self)

    def _rows(self) -> list[tuple[str, str]]:
        return [(name, vars(type(self))[name].doc) for name in self]

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"Scenarios.{name:{width}}  {doc}" for name, doc in self._rows())

    def _repr_html_(self) -> str:
        rows = "".join(f'<tr><th scope="row" style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(doc)}</td></tr>' for name, doc in self._rows())
        return ('<table class="mathjax_ignore tex2jax_ignore"><thead><tr><th scope="col" style="text-align:left">Scenarios.</th>'
                f'<th scope="col" style="text-align:left">what it is</th></tr></thead><tbody>{rows}</tbody></table>')

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            near = difflib.get_close_matches(name, list(self), n=1)
            raise AttributeError(f"Scenarios has no {name!r}" + (f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(self)}"))


Scenarios = Shelf()

__all__ = ["Scenarios", "Shelf"]
