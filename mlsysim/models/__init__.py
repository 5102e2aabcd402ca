"""The catalogue of workloads: `Models.Language.GPT2`, `Models.find("qwen3-8b")`; and the types of its entries."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..engine.catalogue import Catalogue, Group
from .encoder_decoder import EncoderDecoder
from .vision import ResNet, Stage, VisionTransformer
from .workload import Workload

_DATA = Path(__file__).with_name("data")
_COLUMNS = ("parameters", "counted_parameters", "layers", "hidden_dim", "heads", "context_length")


def _kinds() -> Sequence[type[Workload]]:
    return (Workload, EncoderDecoder, ResNet, VisionTransformer)


class _Models(Catalogue[Workload]):
    Language: Group[Workload]
    Vision: Group[Workload]


Models = _Models("Models", {"Language": Group("Models.Language", _DATA / "language.json", _kinds, _COLUMNS), "Vision": Group("Models.Vision", _DATA / "vision.json", _kinds, _COLUMNS)})

__all__ = ["EncoderDecoder", "Models", "ResNet", "Stage", "VisionTransformer", "Workload"]
