"""A scenario for tests that uses every word of the formula vocabulary: how long a payload takes over a link."""

from __future__ import annotations

from mlsysim import (
    Given, Presentation, Quantity, Record, Scenario, Table, all_of, any_of, case, ceil, choose, derived, floor, given, is_given, maximum, minimum,
    not_, parametrised, requires, square_root, total_of, warns)
from mlsysim.engine.expression import exponential

MADE_UP = "made up for the tests"
SHRINKING = Table("k", "", {"none": 1, "half": 0.5, "quarter": 0.25}, source=MADE_UP)


class Cable(Record):
    """What data runs over."""

    name: str = given(doc="Its name.", example='"copper"')
    bandwidth: Given[Quantity] = given("W", "GB/s", positive=True, example='"10 GB/s"', doc="Rate of one lane.")
    lanes: int = given("n_lane", default=1, positive=True, maximum=64, doc="Lanes side by side.")

    @requires("a cable of {lanes} lanes does not exist; lanes come in powers of two")
    def lanes_double(self) -> bool:
        """Lanes come in ones, twos, fours ..."""
        return any_of(*(self.lanes == 2**i for i in range(7)))


class Extra(Record):
    """Something sent along."""

    size: Given[Quantity] = given("S_x", "byte", positive=True, example='"1 kB"', doc="Its size.")
    copies: int = given("c_x", default=1, doc="How many of it.")


class TransferScenario(Scenario):
    """How long a payload takes over a cable, and whether that is in time."""

    payload: Given[Quantity] = given("S", "byte", positive=True, example='"40 MB"', doc="What is sent, for one item.")
    items: int = given("n", default=1, positive=True, doc="How many items are sent.")
    senders: int | None = given("s", default=None, positive=True, example="2", doc="Machines that send, each a part of the items.")
    cable: Cable | None = given(default=None, example='Cable(name="copper", bandwidth="10 GB/s")', doc="What it goes over.")
    packet: Given[Quantity] = given("p", "byte", default="4 kB", positive=True, doc="Size of a packet.", source=MADE_UP)
    window: Given[Quantity] = given("w", "byte", default=lambda self: 16 * self.packet, positive=True, example='"64 kB"', doc="What is sent before an answer.", source=MADE_UP)
    compression: str = given(default="none", choices=("none", "half", "quarter"), doc="How far the payload is shrunk.")
    loss: float = given("ε", default=0.01, maximum=1, doc="Share of the packets that is lost.")
    deadline: Given[Quantity | None] = given("T", "second", default=None, example='"2 second"', doc="When it has to be there.")
    extras: tuple[Extra, ...] | None = given(default=None, example='[Extra(size="1 kB")]', doc="What is sent along.")

    @derived("V", "byte", source=MADE_UP)
    def volume(self) -> Quantity:
        """All that is sent."""
        return self.payload * self.items * choose(self.compression, SHRINKING) + self.along

    @derived("V_x", "byte", source=MADE_UP)
    def along(self) -> Quantity:
        """What goes along with the payload."""
        return case((is_given(self.extras), total_of(self.extras, lambda extra: extra.size * extra.copies)), otherwise=0)

    @derived("n_p", "", source=MADE_UP)
    def packets(self) -> int:
        """Packets that hold it."""
        return ceil(self.volume / self.packet)

    @derived("n_rest", "", source=MADE_UP)
    def items_in_last_round(self) -> float:
        """Items left for the last round of the senders."""
        return self.items % self.senders

    @derived("n_w", "", source=MADE_UP)
    def windows(self) -> float:
        """Windows that hold it."""
        return self.volume / self.window

    @derived("R", "GB/s", source=MADE_UP)
    def rate(self) -> Quantity:
        """The rate of the cable, which a loss slows down."""
        return self.cable.bandwidth * self.cable.lanes * exponential(-2 * self.loss)

    @derived("t", "second", source=MADE_UP)
    def time(self) -> Quantity:
        """How long it takes."""
        return self.volume / self.rate

    @derived("t_slack", "second", source=MADE_UP)
    def slack(self) -> Quantity:
        """What is left until the deadline, nothing where it is missed."""
        return maximum(self.deadline - self.time, 0)

    @derived("in time", source=MADE_UP)
    def in_time(self) -> bool:
        """Whether it is there in time; yes where there is no deadline."""
        return any_of(not_(is_given(self.deadline)), all_of(is_given(self.cable), self.time <= self.deadline))

    @derived("x_speed", "", source=MADE_UP)
    def speedup(self) -> float:
        """How much faster several senders are, at most by the square root of their number."""
        return minimum(square_root(self.senders), self.items ** 0.25)

    @derived("x_area", "", source=MADE_UP)
    def spread(self) -> float:
        """A number that grows with the square of the items and shrinks with the loss."""
        return self.items ** 2 / (self.loss * self.items)

    @derived("n_full", "", source=MADE_UP)
    def full_packets(self) -> int | None:
        """Packets that are full, where there is more than one."""
        return case((self.packets > 1, floor(self.volume / self.packet)), otherwise=None)

    @derived("kind of load", source=MADE_UP)
    def load(self) -> str:
        """What kind of load it is."""
        return case((self.items > 1000, "heavy"), (self.items > 10, "fair"), otherwise="light")

    @parametrised("t", "second", source=MADE_UP, items=given("n'", positive=True, example="8", doc="Another number of items."))
    def time_of(self, items: int) -> Quantity:
        """How long another number of items takes."""
        return self.payload * items / self.rate

    @derived("t_double", "second", source=MADE_UP)
    def time_of_double(self) -> Quantity:
        """How long twice the items take."""
        return self.time_of(2 * self.items)

    @requires("{items} items cannot be dealt to {senders} senders; write a number of senders that divides them")
    def senders_divide_items(self) -> bool:
        """Every sender has as many items as the others."""
        return any_of(not_(is_given(self.senders)), self.items % self.senders == 0)

    @warns("a packet of {packet} is larger than the volume of {volume}")
    def packet_is_large(self) -> bool:
        """A packet should be filled."""
        return self.packet > self.volume

    presentation = Presentation(question="Is it there in time?", answer="in_time", whole="time", title="Sending {payload}")
