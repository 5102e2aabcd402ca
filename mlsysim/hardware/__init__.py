"""The catalogue of hardware: `Hardware.Cloud.H100`, `Hardware.find("RTX 4090")`, `Hardware.Links.NVLink_4`; and the types of its entries."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..engine.catalogue import Catalogue, Group
from .node import Compute, HardwareNode, Link, Memory

_DATA = Path(__file__).with_name("data")
_LINKS: Group[Link] = Group("Hardware.Links", _DATA / "links.json", lambda: (Link,), ("bandwidth_per_direction", "duplex_bandwidth"))
_COLUMNS = ("memory.capacity", "memory.bandwidth", "compute.fp32", "compute.bf16", "compute.int8", "power")
_TINY_COLUMNS = ("memory.capacity", "flash")


def _kinds() -> Sequence[type[HardwareNode]]:
    return (HardwareNode,)


def _group(name: str, columns: Sequence[str] = _COLUMNS) -> Group[HardwareNode]:
    return Group(f"Hardware.{name}", _DATA / f"{name.lower()}.json", _kinds, columns, {"link": _LINKS})


class _Hardware(Catalogue[HardwareNode]):
    Cloud: Group[HardwareNode]
    Workstation: Group[HardwareNode]
    Edge: Group[HardwareNode]
    Mobile: Group[HardwareNode]
    Tiny: Group[HardwareNode]
    Links: Group[Link]


Hardware = _Hardware("Hardware", {"Cloud": _group("Cloud"), "Workstation": _group("Workstation"), "Edge": _group("Edge"), "Mobile": _group("Mobile"),
                                  "Tiny": _group("Tiny", _TINY_COLUMNS)}, aside={"Links": _LINKS})

__all__ = ["Compute", "Hardware", "HardwareNode", "Link", "Memory"]
