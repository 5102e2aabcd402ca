"""What a device is: memory, peak rates of arithmetic, power, flash, and the link to its neighbours."""
from __future__ import annotations

from typing import Any

from ..engine.catalogue_views import card_html, card_text
from ..engine.declarations import derived
from ..engine.derivation import Derivation
from ..engine.inputs import Given, given
from ..engine.record import Record
from ..units import Quantity


class Memory(Record):
    """The memory that holds a run's tensors: HBM or GDDR on an accelerator, SRAM on a microcontroller.

    `capacity` is the maker's nominal figure. Makers write GB for the binary gigabytes of HBM, GDDR and LPDDR: an "80 GB"
    accelerator is stated here as 80 GiB.
    """

    capacity: Given[Quantity] = given("C", "GiB", positive=True, example='"24 GiB"', doc="Nominal capacity.")
    bandwidth: Given[Quantity | None] = given("W", "GB/s", default=None, positive=True, example='"1 TB/s"', doc="Peak bandwidth.")
    technology: str | None = given(default=None, example='"HBM3"', doc="What the memory is made of, as the maker names it.")
    driver_visible: Given[Quantity | None] = given("C_driver", "GiB", default=None, positive=True, example='"81559 MiB"', doc="Total that the driver shows (nvidia-smi).")
    framework_visible: Given[Quantity | None] = given("C_framework", "GiB", default=None, positive=True, example='"79.15 GiB"',
                                                      doc="Total that a framework can allocate from (PyTorch's \"total capacity\").")


class Compute(Record):
    """Peak rates of arithmetic by number format, dense unless the name says sparse; on tensor cores, accumulating in fp32, where a maker tells them apart."""

    fp64: Given[Quantity | None] = given("R_fp64", "TFLOP/s", default=None, positive=True, doc="Peak rate in 64-bit floating point.")
    fp32: Given[Quantity | None] = given("R_fp32", "TFLOP/s", default=None, positive=True, doc="Peak rate in 32-bit floating point.")
    tf32: Given[Quantity | None] = given("R_tf32", "TFLOP/s", default=None, positive=True, doc="Peak rate in TF32.")
    fp16: Given[Quantity | None] = given("R_fp16", "TFLOP/s", default=None, positive=True, doc="Peak rate in fp16.")
    bf16: Given[Quantity | None] = given("R_bf16", "TFLOP/s", default=None, positive=True, doc="Peak rate in bf16.")
    fp8: Given[Quantity | None] = given("R_fp8", "TFLOP/s", default=None, positive=True, doc="Peak rate in 8-bit floating point.")
    fp4: Given[Quantity | None] = given("R_fp4", "TFLOP/s", default=None, positive=True, doc="Peak rate in 4-bit floating point.")
    int8: Given[Quantity | None] = given("R_int8", "TFLOP/s", default=None, positive=True, doc="Peak rate in 8-bit integers.")
    int4: Given[Quantity | None] = given("R_int4", "TFLOP/s", default=None, positive=True, doc="Peak rate in 4-bit integers.")
    bf16_sparse: Given[Quantity | None] = given("R_bf16_sparse", "TFLOP/s", default=None, positive=True, doc="Peak rate in bf16, structured zeros counted as work.")
    fp8_sparse: Given[Quantity | None] = given("R_fp8_sparse", "TFLOP/s", default=None, positive=True, doc="Peak rate in 8-bit floating point, structured zeros counted as work.")
    int8_sparse: Given[Quantity | None] = given("R_int8_sparse", "TFLOP/s", default=None, positive=True, doc="Peak rate in 8-bit integers, structured zeros counted as work.")


class Link(Derivation):
    """What connects a device to its neighbours; its bandwidth is that of one device in one direction."""

    name: str = given(example='"my link"', doc="What the link is called.")
    bandwidth_per_direction: Given[Quantity] = given("W_link", "GB/s", positive=True, example='"450 GB/s"', doc="What one device can send, and receive at the same time.")

    @derived("W_duplex", "GB/s", source="the sum of the two directions, which makers often print")
    def duplex_bandwidth(self: Any) -> Quantity:
        """What one device can send and receive together."""
        return 2 * self.bandwidth_per_direction

    def __str__(self) -> str:
        return card_text(self)

    def _repr_html_(self) -> str:
        return card_html(self)


class HardwareNode(Record):
    """A device by its published facts. A field that no source supports is left out."""

    name: str = given(example='"my device"', doc="What the device is called.")
    memory: Memory = given(doc="The memory that holds a run's tensors.")
    compute: Compute | None = given(default=None, doc="Peak rates of arithmetic.")
    power: Given[Quantity | None] = given("Q", "watt", default=None, positive=True, doc="Board power: the most the maker lets the device draw.")
    link: Link | None = given(default=None, doc="The fastest link to its neighbours.")
    flash: Given[Quantity | None] = given("C_flash", "MiB", default=None, positive=True, example='"1 MiB"', doc="Flash of a microcontroller, which holds program and weights; apart from its memory.")

    def __str__(self) -> str:
        return card_text(self)

    def _repr_html_(self) -> str:
        return card_html(self)


__all__ = ["Compute", "HardwareNode", "Link", "Memory"]
