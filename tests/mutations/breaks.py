"""Ways to break the kit on purpose, each small enough to pass unnoticed, and the tests that are there to notice it."""
from __future__ import annotations

from dataclasses import dataclass

FIT = "mlsysim/engine/scenario_definitions/training.py"
MEMORY = "mlsysim/engine/scenario_parts/training_state"
START = "notebooks/start_here.ipynb"


@dataclass(frozen=True)
class Mutation:
    """One break: what it is, the text it puts in the place of another, which stands once in its file, and the tests to run."""

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS = (
    # Formulas.
    Mutation("a formula: Adam's state counted at the weights' width", FIT, "parameters * self.optimizer_bytes_per_parameter", "parameters * self.bytes_per_value",
             ("tests/test_training_state_fit.py",)),
    Mutation("a formula whose unit no longer fits", FIT, "self.update_traffic / self.hardware.memory.bandwidth", "self.update_traffic * self.hardware.memory.bandwidth",
             ("tests/test_training_state_fit.py",)),
    Mutation("Young's interval without its factor of two", "mlsysim/engine/scenario_definitions/fault_tolerance.py",
             "return square_root(2 * self.save_time * self.system_time_between_failures)", "return square_root(self.save_time * self.system_time_between_failures)",
             ("tests/test_fault_tolerance.py",)),
    Mutation("ZeRO: optimizer state divided like gradients", f"{MEMORY}/state.py", "self.dense_parameters_per_rank / self.optimizer_shards", "self.dense_parameters_per_rank / self.gradient_shards",
             ("tests/test_training_memory.py",)),
    Mutation("a microbatch that forgets the accumulation steps", f"{MEMORY}/layout.py", "return ceil(self.batch_size / (self.data_parallel_ranks * self.gradient_accumulation_steps))",
             "return ceil(self.batch_size / self.data_parallel_ranks)", ("tests/test_training_memory.py",)),
    Mutation("1F1B: as many microbatches in flight as there are", f"{MEMORY}/layout.py", "otherwise=minimum(self.gradient_accumulation_steps, self.pp_size))",
             "otherwise=self.gradient_accumulation_steps)", ("tests/test_training_memory.py",)),
    Mutation("an optimizer's row: momentum that keeps nothing", f"{MEMORY}/optimizers.py", '"sgd_momentum": 1,', '"sgd_momentum": 0,', ("tests/test_training_memory.py",)),
    Mutation("offloading that leaves the optimizer on the device", "mlsysim/engine/scenario_definitions/training_step/held.py",
             "case((self.offload_optimizer, 0), otherwise=self.optimizer_state) + self.adapter_state", "self.optimizer_state + self.adapter_state", ("tests/test_training_step.py",)),
    Mutation("a residual network that forgets what its shortcuts keep", "mlsysim/engine/scenario_definitions/image_training_step/activations.py",
             "+ s.output_channels + case((2 * s.input_channels", "+ case((2 * s.input_channels", ("tests/test_training_step.py",)),
    Mutation("a verdict that offers what does not surely fit", "mlsysim/engine/scenario_parts/fitting.py", "return bool(self.made.fits_with_most)", "return bool(self.made.fits_with_least)",
             ("tests/test_training_step.py",)),

    # Facts and units.
    Mutation("a catalogue number: an H100 of decimal gigabytes", "mlsysim/hardware/data/cloud.json",
             '"memory.capacity": "80 GiB", "memory.bandwidth": "3350 GB/s"', '"memory.capacity": "80 GB", "memory.bandwidth": "3350 GB/s"', ("tests/test_catalogue.py",)),
    Mutation("a unit: a gibi of a thousand", "mlsysim/units.py", "gibi- = 2**30", "gibi- = 1e9", ("tests/test_catalogue.py", "tests/test_training_state_fit.py")),
    Mutation("a unit's label: GiB written GB", "mlsysim/engine/figures.py", '{shown.digits} {name}"', '{shown.digits} GB"', (START,)),

    # What refuses and warns.
    Mutation("an input that takes infinity", "mlsysim/engine/inputs.py", "        if not finite:\n", "        if not finite and value != math.inf:\n", ("tests/test_hostile_inputs.py",)),
    Mutation("a requirement that only warns", FIT, '@requires("adapter_bytes_per_value=', '@warns("adapter_bytes_per_value=', ("tests/test_training_state_fit.py",)),

    # What a reader sees.
    Mutation("a sign: minus written as plus", "mlsysim/engine/notation.py", '"-": " − ", "*"', '"-": " + ", "*"', (START,)),
    Mutation("an HTML row without its value", "mlsysim/engine/display.py", "<b style=text-align:right>{line.value(HTML)} </b>", "<b style=text-align:right> </b>", (START,)),
    Mutation("an HTML row left out", "mlsysim/engine/display.py", "_html_line(told, line) for line in lines)", "_html_line(told, line) for line in lines[1:])", (START,)),
    Mutation("an axis without its label", "mlsysim/notebook/plots/stacks.py", "        ax.set_xlabel(self.input.label)\n", "", ("tests/test_plots.py",)),
    Mutation("a caption that says halving for doubling", "mlsysim/notebook/caption.py", 'return "Doubling"', 'return "Halving"', ("tests/test_explore.py",)),

    # Widgets.
    Mutation("a widget callback: a slider that nobody hears", "mlsysim/notebook/controls.py", 'widget.observe(self._hear, "value")', 'widget.observe(self._hear, "disabled")',
             ("tests/test_explore.py",)),
    Mutation("a widget callback: a reset that does nothing", "mlsysim/notebook/panel.py", "reset.on_click(lambda button: self.reset())", "reset.on_click(lambda button: None)",
             ("tests/test_explore.py",)),
    Mutation("a part that does not follow", "mlsysim/notebook/panel.py", "            one.show(self.start, scenario)\n", "            one.show(self.start, self.start)\n", ("tests/test_explore.py",)),

    # The repository.
    Mutation("a saved number in a notebook", START, "Answer: 24.0 GB", "Answer: 23.0 GB", (START,)),
    Mutation("a code cell saved without having run", START, '"execution_count": 1,\n   "id"', '"execution_count": null,\n   "id"', ("tests/test_notebooks.py",)),
    Mutation("a number typed in a notebook's prose", START, '"# Start here\\n"', '"# Start here with 24 GB\\n"', ("tests/test_notebooks.py::test_no_number_is_typed_in_prose",)),
    Mutation("Binder with the index's package of that name", "binder/requirements.txt", ".[notebook]", "mlsysim", ("tests/test_binder.py",)),
    Mutation("the engine loads NumPy at once", "mlsysim/engine/figures.py", "import math\n", "import math\nimport numpy\n", ("tests/test_layers.py",)),
)
