"""A peak of allocated memory against a device: the driver's context and the allocator's reserve, as ranges that others measured, and the verdict."""
from __future__ import annotations

from typing import Any

from ...hardware import HardwareNode
from ...units import Quantity
from ..declarations import derived
from ..derivation import Derivation
from ..expression import case, is_given
from ..inputs import given

DEFINITION = "by definition"
CONTEXT = ("Bekman, Machine Learning Engineering Open Book, training/performance/README.md: 0.90, 0.92 and 1.78 GiB; Hugging Face, transformers documentation, model_memory_anatomy: "
           "1343 MiB; tests/facts/outcomes.json, constants")
RESERVE = "reserved over allocated memory in seven out-of-memory messages of PyTorch, tests/facts/outcomes.json, constants"
MOMENTS = "by definition; each family gives its own"


class DeviceMemory(Derivation):
    """Whether a device has what a peak needs. A class that inherits it gives `peak_allocated`."""

    hardware: HardwareNode | None = given(default=None, example="Hardware.Cloud.H100", doc="The accelerator that each rank runs on.")
    context: Quantity = given("M_context", "GiB", default="1.12 GiB", doc="What the driver's context and loaded kernels take before any tensor: the median of four measurements.", source=CONTEXT)
    context_least: Quantity = given("M_context,least", "GiB", default="0.90 GiB", doc="The least that was measured of it.", source=CONTEXT)
    context_most: Quantity = given("M_context,most", "GiB", default="1.78 GiB", doc="The most that was measured of it.", source=CONTEXT)
    reserve: float = given("φ_reserve", default=0.0044, doc="What the allocator reserves beyond what it hands out, as a share of that: the median.", source=RESERVE)
    reserve_least: float = given("φ_reserve,least", default=0.001, doc="The least that was seen of it.", source=RESERVE)
    reserve_most: float = given("φ_reserve,most", default=0.045, doc="The most that was seen of it.", source=RESERVE)

    @derived("M_peak", "GB", source=MOMENTS)
    def peak_allocated(self: Any) -> Quantity:
        """The most that tensors take at any moment: nothing where a class adds nothing up."""
        return 0 * self.context

    @derived("M_reserved", "GB", source=RESERVE)
    def peak_reserved(self: Any) -> Quantity:
        """The most that the allocator takes from the device."""
        return self.peak_allocated * (1 + self.reserve)

    @derived("M", "GB", source=DEFINITION)
    def peak_occupied(self: Any) -> Quantity:
        """The most that is taken of the device's memory, context included."""
        return self.peak_reserved + self.context

    @derived("M_least", "GB", source=f"{CONTEXT}; {RESERVE}")
    def least_occupied(self: Any) -> Quantity:
        """The peak with the least context and reserve that were measured."""
        return self.peak_allocated * (1 + self.reserve_least) + self.context_least

    @derived("M_most", "GB", source=f"{CONTEXT}; {RESERVE}")
    def most_occupied(self: Any) -> Quantity:
        """The peak with the most context and reserve that were measured."""
        return self.peak_allocated * (1 + self.reserve_most) + self.context_most

    @derived("M_usable", "GB", source="what the framework reports, else what the driver shows, else the nominal capacity")
    def usable_memory(self: Any) -> Quantity:
        """What the device gives in all, context included."""
        of = self.hardware.memory
        return case((is_given(of.framework_visible), of.framework_visible), (is_given(of.driver_visible), of.driver_visible), otherwise=of.capacity)

    @derived("M_margin", "GB", source=DEFINITION, below_zero="none")
    def margin(self: Any) -> Quantity:
        """What is left of the device's memory at the peak."""
        return self.usable_memory - self.peak_occupied

    @derived("fits", source=DEFINITION)
    def fits(self: Any) -> bool:
        """Whether the peak is within the device's memory, with the context and reserve that are likeliest."""
        return self.peak_occupied <= self.usable_memory

    @derived("surely fits", source=DEFINITION)
    def fits_with_most(self: Any) -> bool:
        """Whether it is even with the most context and reserve."""
        return self.most_occupied <= self.usable_memory

    @derived("may fit", source=DEFINITION)
    def fits_with_least(self: Any) -> bool:
        """Whether it is with the least context and reserve."""
        return self.least_occupied <= self.usable_memory

    @derived("outcome", source=DEFINITION)
    def outcome(self: Any) -> str:
        """Fits, does not fit, or too close to call: within the range of what context and reserve were measured to be."""
        return case((self.fits_with_most, "fits"), (self.fits_with_least, "too_close_to_call"), otherwise="does_not_fit")


__all__ = ["CONTEXT", "DeviceMemory", "RESERVE"]
