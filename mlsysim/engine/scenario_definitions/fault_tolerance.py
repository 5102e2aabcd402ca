"""How often a run that fails now and then should save itself, and what saving, redoing and recovering cost it."""
from __future__ import annotations

from ...units import Quantity
from ..declarations import derived, parametrised, warns
from ..expression import case, exponential, floor, maximum, square_root
from ..inputs import Given, given
from ..scenario import About, Presentation, Scenario

YOUNG = "Young 1974, A first order approximation to the optimum checkpoint interval, doi:10.1145/361147.361115"
DALY = "Daly 2006, A higher order estimate of the optimum checkpoint interval for restart dumps, doi:10.1016/j.future.2004.11.016"
DALY_COST = f"{DALY}, the complete cost function"
DALY_OPTIMUM = f"{DALY}, the perturbation solution, with worked values in figures 3 to 5"
KOKOLIS = "Kokolis et al. 2025, Revisiting Reliability in Large-Scale Machine Learning Research Clusters, arXiv:2410.21680"
DEFINITION = "by definition"


class CheckpointIntervalScenario(Scenario):
    """How long a run should train between two saves, when any of its devices may fail and a failure throws it back to its last checkpoint.

    Saving often costs time at every save, saving rarely costs work at every failure. Young's interval balances the two. Overheads
    are counted against the time that the run would train without saves and failures.
    """

    devices: int = given("N", positive=True, example="1024", doc="Devices, or nodes, any one of which stops the run when it fails.")
    mean_time_between_failures: Given[Quantity] = given(
        "M_1", "day", positive=True, default=lambda self: self.observed_devices * self.observed_time / self.observed_failures, example="\"50000 hour\"",
        source=f"{KOKOLIS}: failures over device time", doc="Mean time between failures of one device, or node; stated, or from failures that were counted.")
    observed_failures: int | None = given("F_obs", default=None, positive=True, example="419", doc="Failures counted on a run or cluster of the same kind.")
    observed_devices: int | None = given("N_obs", default=None, positive=True, example="16384", doc="Devices, or nodes, on which they were counted.")
    observed_time: Given[Quantity | None] = given("T_obs", "day", default=None, positive=True, example="\"54 day\"", doc="How long they were counted.")
    checkpoint_size: Given[Quantity | None] = given("S", "byte", default=None, positive=True, example="\"2.3 TB\"", doc="What one checkpoint holds, all devices together.")
    storage_bandwidth: Given[Quantity | None] = given("W", "byte/second", default=None, positive=True, example="\"100 GB/s\"", doc="Rate at which storage takes it, all devices together.")
    save_time: Given[Quantity] = given(
        "δ", "second", positive=True, default=lambda self: self.write_time, example="\"40 s\"", source=DEFINITION,
        doc="How long training stands still for one save: the time to write, or less where the writing goes on beside training.")
    recovery_time: Given[Quantity] = given("R", "second", example="\"5 minute\"", doc="From a failure until training goes on: notice it, replace the device, start again, load the checkpoint.")
    interval: Given[Quantity] = given("τ", "minute", positive=True, default=lambda self: self.young_interval, example="\"30 minute\"", source=YOUNG,
                                      doc="Training between the end of one save and the start of the next; Young's interval where none is chosen.")
    step_time: Given[Quantity | None] = given("t_step", "second", default=None, positive=True, example="\"10 s\"", doc="How long one training step takes, as measured.")
    training_time: Given[Quantity | None] = given("T_train", "day", default=None, positive=True, example="\"30 day\"", doc="How long the run would train without a save or a failure.")

    # Failures.

    @derived("M", "hour", source=f"{DALY}: Poisson failures of single components")
    def system_time_between_failures(self) -> Quantity:
        """Mean time between failures of the whole run: with as many devices as there are, one of them fails that much sooner."""
        return self.mean_time_between_failures / self.devices

    @derived("r_fail", "1/day", source=DEFINITION)
    def failure_rate(self) -> Quantity:
        """Failures of the run in a day."""
        return 1 / self.system_time_between_failures

    @parametrised("F", "", source=DEFINITION, duration=given("t", "day", positive=True, example="\"54 day\"", doc="How long one looks."))
    def failures_in(self, duration: Quantity) -> float:
        """Failures to expect in that time."""
        return duration / self.system_time_between_failures

    # How often to save.

    @derived("t_write", "second", source=DEFINITION)
    def write_time(self) -> Quantity:
        """How long storage takes to write one checkpoint."""
        return self.checkpoint_size / self.storage_bandwidth

    @derived("τ_Young", "minute", source=YOUNG)
    def young_interval(self) -> Quantity:
        """The interval at which saving costs as much as redoing, which is where the two together cost least."""
        return square_root(2 * self.save_time * self.system_time_between_failures)

    @derived("τ_Daly", "minute", source=DALY_OPTIMUM)
    def daly_interval(self) -> Quantity:
        """The best interval also where a save is no small part of the time between failures."""
        return case(
            (self.save_time < 2 * self.system_time_between_failures,
             self.young_interval * (1 + square_root(self.save_time / (2 * self.system_time_between_failures)) / 3 + self.save_time / (18 * self.system_time_between_failures))
             - self.save_time),
            otherwise=self.system_time_between_failures)

    @derived("n_step", "", source=DEFINITION)
    def steps_between_saves(self) -> int:
        """Whole training steps in one interval, and at least one."""
        return maximum(floor(self.interval / self.step_time), 1)

    # What it costs at the chosen interval.

    @derived("t_lost", "minute", source=YOUNG)
    def lost_work(self) -> Quantity:
        """Training that a failure throws away: on average it strikes halfway between two saves."""
        return self.interval / 2

    @derived("t_fail", "minute", source=KOKOLIS)
    def failure_cost(self) -> Quantity:
        """What one failure costs: the training it throws away, and the recovery."""
        return self.lost_work + self.recovery_time

    @derived("o_save", "percent", source=YOUNG)
    def saving_overhead(self) -> float:
        """Time spent saving, against time spent training."""
        return self.save_time / self.interval

    @derived("o_redo", "percent", source=YOUNG)
    def rework_overhead(self) -> float:
        """Time spent training again what failures threw away, against time spent training."""
        return self.lost_work / self.system_time_between_failures

    @derived("o_rec", "percent", source=KOKOLIS)
    def recovery_overhead(self) -> float:
        """Time spent recovering, against time spent training; no interval changes it."""
        return self.recovery_time / self.system_time_between_failures

    @derived("o", "percent", source=YOUNG)
    def overhead(self) -> float:
        """All that saves and failures add to the time spent training, to first order."""
        return self.saving_overhead + self.rework_overhead + self.recovery_overhead

    @derived("G", "percent", source=KOKOLIS)
    def goodput(self) -> float:
        """The share of the clock's time in which training moves on, to first order."""
        return 1 / (1 + self.overhead)

    @derived("w_first", "percent", source=DEFINITION)
    def wasted_share(self) -> float:
        """The share of the clock's time that saves and failures take, to first order."""
        return 1 - self.goodput

    # Against the best interval.

    @derived("o_min", "percent", source=YOUNG)
    def least_overhead(self) -> float:
        """The overhead at Young's interval, the least to first order: it grows with the root of a save's time."""
        return square_root(2 * self.save_time / self.system_time_between_failures) + self.recovery_overhead

    @derived("G_max", "percent", source=KOKOLIS)
    def best_goodput(self) -> float:
        """The share of the clock's time in which training moves on, at Young's interval."""
        return 1 / (1 + self.least_overhead)

    @derived("x_o", "", source=DEFINITION)
    def overhead_ratio(self) -> float:
        """The chosen interval's overhead, counted in the least."""
        return self.overhead / self.least_overhead

    @parametrised("x", "", source=YOUNG, factor=given("k", positive=True, example="2", doc="An interval, counted in Young's intervals."))
    def flatness_at(self, factor: float) -> float:
        """What saving and redoing cost together at a multiple of Young's interval, counted in their least: the minimum is flat."""
        return (factor + 1 / factor) / 2

    # Without the approximation.

    @parametrised("s", "", source=DALY_COST, interval=given("τ", "minute", positive=True, example="\"30 minute\"", doc="The interval to look at."))
    def slowdown_at(self, interval: Quantity) -> float:
        """The clock's time for one unit of training at another interval, where failures may also strike a save or a recovery."""
        return (self.system_time_between_failures / interval * exponential(self.recovery_time / self.system_time_between_failures)
                * (exponential((interval + self.save_time) / self.system_time_between_failures) - 1))

    @parametrised("w", "percent", source=DALY_COST, interval=given("τ", "minute", positive=True, example="\"30 minute\"", doc="The interval to look at."))
    def waste_at(self, interval: Quantity) -> float:
        """The share of the clock's time that saves and failures take at another interval, however long."""
        return 1 - 1 / self.slowdown_at(interval)

    @derived("w_exact", "percent", source=DALY_COST)
    def expected_waste(self) -> float:
        """The share of the clock's time that saves and failures take at the chosen interval, without the first-order approximation."""
        return self.waste_at(self.interval)

    @derived("w_best", "percent", source=DALY_COST)
    def least_waste(self) -> float:
        """The same at Daly's interval, which is the least to within a hundredth of a percent."""
        return self.waste_at(self.daly_interval)

    # The whole run.

    @derived("T_wall", "day", source=KOKOLIS)
    def wall_time(self) -> Quantity:
        """How long the run takes by the clock, to first order."""
        return self.training_time * (1 + self.overhead)

    @derived("F_run", "", source=DEFINITION)
    def run_failures(self) -> float:
        """Failures to expect during the run."""
        return self.failures_in(self.wall_time)

    @derived("T_waste", "day", source=DEFINITION)
    def device_time_lost(self) -> Quantity:
        """Device time that saves and failures take, all devices together."""
        return self.devices * self.training_time * self.overhead

    # What people do but should know.

    @warns("One save takes {save_time}, more than a tenth of the {system_time_between_failures} between failures: Young's interval is rough there; use daly_interval and expected_waste.")
    def save_is_long(self) -> bool:
        """The first-order interval takes a save for short."""
        return 10 * self.save_time > self.system_time_between_failures

    @warns("With {interval} between saves and a failure every {system_time_between_failures}, most intervals fail before they are saved, and the first-order overhead is too low; "
           "use daly_interval and expected_waste.")
    def interval_is_long(self) -> bool:
        """An interval as long as the time between failures is seldom finished."""
        return self.interval > self.system_time_between_failures

    @warns("One recovery takes {recovery_time}, more than a tenth of the {system_time_between_failures} between failures: failures strike recoveries too, and the first-order "
           "overhead is too low; use expected_waste.", source=DALY_COST)
    def recovery_is_long(self) -> bool:
        """The first-order overhead takes a recovery for short."""
        return 10 * self.recovery_time > self.system_time_between_failures

    @warns("Storage takes {write_time} to write a checkpoint, longer than the {interval} between saves: the next save would begin before this one is written.")
    def storage_is_slow(self) -> bool:
        """A save that goes on beside training must end before the next begins."""
        return self.write_time > self.interval + self.save_time

    presentation = Presentation(
        title="Checkpoints of a run on {devices} devices",
        question="How often should this run save?",
        answer="young_interval",
        parts=("saving_overhead", "rework_overhead", "recovery_overhead"),
        whole="overhead",
        groups={
            "How often it fails": ("system_time_between_failures", "failure_rate", "failures_in"),
            "How often it should save": ("write_time", "young_interval", "daly_interval", "steps_between_saves"),
            "What one failure costs": ("lost_work", "failure_cost"),
            "What the chosen interval costs": ("saving_overhead", "rework_overhead", "recovery_overhead", "overhead", "goodput", "wasted_share"),
            "Against the best interval": ("least_overhead", "best_goodput", "overhead_ratio", "flatness_at"),
            "Without the first-order approximation": ("slowdown_at", "waste_at", "expected_waste", "least_waste"),
            "The whole run": ("wall_time", "run_failures", "device_time_lost"),
        })
    about = About(
        assumptions=("Failures come one by one at a constant rate, each device on its own, so that the times between them follow the exponential distribution.",
                     "Any failure stops the whole run, which goes on from its last checkpoint.",
                     "To first order a save and an interval are short against the time between failures, and failures strike while training.",
                     "Training stands still while it saves; with saves beside training, save_time is the part for which it stands still."),
        exclusions=("Failures that come in groups, at start-up or by a common cause, and devices that fail again and again.",
                    "Checkpoints that are damaged, and errors that go unnoticed until after a save.",
                    "Several levels of storage with different rates, and planned interruptions."),
        references=(YOUNG, DALY, KOKOLIS),
        example=">>> from mlsysim.engine.scenario_types import CheckpointIntervalScenario\n"
                ">>> run = CheckpointIntervalScenario(devices=1, mean_time_between_failures=\"24 hour\", save_time=\"5 minute\", recovery_time=\"10 minute\")\n"
                ">>> print(run.substitution(\"young_interval\"))\n"
                "τ_Young = √(2 × 5 min × 24.0 h) = 2.0 h\n"
                ">>> print(run.figure_text(\"daly_interval\"))\n"
                "117 min\n")


__all__ = ["CheckpointIntervalScenario"]
