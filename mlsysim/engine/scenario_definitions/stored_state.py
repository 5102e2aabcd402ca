"""What training keeps for each parameter tensor, and what a checkpoint of it weighs, from the tensors' shapes."""
from __future__ import annotations

from typing import Any

from ...units import Quantity
from ..declarations import derived
from ..expression import Table, any_of, case, choose, total_of
from ..inputs import Given, given
from ..record import Record
from ..scenario import About, Presentation, Scenario

OPTIMIZERS = "PyTorch 2.13, torch/optim: sgd.py, adam.py, adamw.py, _adafactor.py, each optimizer's first step"
ADAM = "Kingma and Ba 2015, Adam, arXiv:1412.6980, algorithm 1"
ADAFACTOR = "Shazeer and Stern 2018, Adafactor, arXiv:1804.04235, sections 3 and 6"
FILE = "measured on files that torch.save of PyTorch 2.13 wrote, tests/facts/measured_activations.json"

WIDTHS = Table("bytes", "byte", {"fp32": 4, "bf16": 2, "fp16": 2}, source={
    "fp32": "IEEE 754-2019, section 3.6, binary32",
    "bf16": "Kalamkar et al. 2019, A Study of BFLOAT16 for Deep Learning Training, arXiv:1905.12322, section 2",
    "fp16": "IEEE 754-2019, section 3.6, binary16",
})


class ParameterMatrix(Record):
    """Matrices of one shape among a model's parameters."""

    name: str = given(example='"attention output"', doc="Which matrices.")
    out_dim: int = given("d_out", positive=True, example="768", doc="Rows of each: the width of what comes out.")
    in_dim: int = given("d_in", positive=True, example="768", doc="Columns of each: the width of what goes in.")
    count: int = given("c", default=1, positive=True, doc="How many there are.")


class ParameterVector(Record):
    """Vectors of one length among a model's parameters."""

    name: str = given(example='"norms"', doc="Which vectors.")
    length: int = given("l", positive=True, example="768", doc="Elements of each.")
    count: int = given("c", default=1, positive=True, doc="How many there are.")


class StoredStateScenario(Scenario):
    """The bytes of weights, gradients and optimizer state, and of a checkpoint's tensors and file, to the last counter.

    Optimizers that keep sums over rows and columns, and those that count their steps for each tensor, need every tensor's shape.
    """

    matrices: tuple[ParameterMatrix, ...] = given(example='[ParameterMatrix(name="output", out_dim=768, in_dim=768)]', doc="The matrices, one row for each shape; tied ones once.")
    vectors: tuple[ParameterVector, ...] = given(default=(), example='[ParameterVector(name="norms", length=768, count=4)]', doc="The vectors, one row for each length.")
    precision: str = given(default="fp32", choices=tuple(WIDTHS), aliases={"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}, doc="Number format of weights and gradients.")
    optimizer: str = given(default="adamw", choices=("sgd", "sgd_momentum", "adam", "adamw", "adafactor", "adafactor_transformers"), aliases={"momentum": "sgd_momentum"}, source=OPTIMIZERS,
                           doc="The optimizer, as PyTorch implements it; adafactor_transformers is that of transformers, without a first moment.")
    counter_size: Given[Quantity] = given("b_step", "byte", default="4 byte", source=f"{OPTIMIZERS}; transformers 5.24, optimization.py, Adafactor",
                                          doc="The fp32 number that an optimizer keeps for each tensor: a count of steps, or in transformers' Adafactor the weights' root mean square.")
    entry_size: Given[Quantity] = given("b_entry", "byte", default="200 byte", source=FILE, doc="What a file spends on each tensor beside its values: its name, its place, padding to 64 bytes.")
    file_overhead: Given[Quantity] = given("b_file", "byte", default="1.8 kB", source=FILE, doc="What a file spends once.")

    @derived("P_matrices", "parameter", source="by definition")
    def matrix_parameters(self: Any) -> Quantity:
        """Parameters in matrices."""
        return total_of(self.matrices, lambda matrix: matrix.count * matrix.out_dim * matrix.in_dim)

    @derived("P_vectors", "parameter", source="by definition")
    def vector_parameters(self: Any) -> Quantity:
        """Parameters in vectors."""
        return total_of(self.vectors, lambda vector: vector.count * vector.length)

    @derived("P", "parameter", source="by definition")
    def parameters(self: Any) -> Quantity:
        """All parameters."""
        return self.matrix_parameters + self.vector_parameters

    @derived("n_matrices", source="by definition")
    def matrix_count(self: Any) -> float:
        """Matrices."""
        return total_of(self.matrices, lambda matrix: matrix.count)

    @derived("n_vectors", source="by definition")
    def vector_count(self: Any) -> float:
        """Vectors."""
        return total_of(self.vectors, lambda vector: vector.count)

    @derived("β", "byte", source="the entry of the table of number formats")
    def width(self: Any) -> Quantity:
        """Bytes of a weight, and of its gradient."""
        return choose(self.precision, WIDTHS)

    @derived("M_w", "byte", source="by definition")
    def weights(self: Any) -> Quantity:
        """The weights."""
        return self.parameters * self.width

    @derived("M_grad", "byte", source="by definition")
    def gradients(self: Any) -> Quantity:
        """One gradient for each weight."""
        return self.parameters * self.width

    @derived("n_sums", source=ADAFACTOR)
    def factored_values(self: Any) -> float:
        """What Adafactor keeps: an average for each row and each column of a matrix, and one for each element of a vector."""
        return total_of(self.matrices, lambda matrix: matrix.count * (matrix.out_dim + matrix.in_dim)) + self.vector_parameters

    @derived("n_kept", source=f"{ADAM}; {ADAFACTOR}; {OPTIMIZERS}")
    def kept_values(self: Any) -> float:
        """Values that the optimizer keeps, its counters apart."""
        return choose(self.optimizer, {"sgd": 0, "sgd_momentum": self.parameters, "adam": 2 * self.parameters, "adamw": 2 * self.parameters, "adafactor": self.factored_values,
                                       "adafactor_transformers": self.factored_values})

    @derived("β_kept", "byte", source=f"{OPTIMIZERS}; transformers 5.24, optimization.py, Adafactor, which computes in fp32")
    def kept_width(self: Any) -> Quantity:
        """Bytes of a kept value: PyTorch keeps it in the weights' own format."""
        return case((self.optimizer == "adafactor_transformers", choose("fp32", WIDTHS)), otherwise=self.width)

    @derived("n_counters", source=OPTIMIZERS)
    def counters(self: Any) -> float:
        """Tensors that have a number of their own."""
        return case((any_of(self.optimizer == "sgd", self.optimizer == "sgd_momentum"), 0), otherwise=self.matrix_count + self.vector_count)

    @derived("M_opt", "byte", source=OPTIMIZERS)
    def optimizer_state(self: Any) -> Quantity:
        """All that the optimizer keeps after its first step."""
        return self.kept_values * self.kept_width + self.counters * self.counter_size

    @derived("M_tensors", "byte", source="by definition")
    def checkpoint_tensors(self: Any) -> Quantity:
        """A checkpoint's values: weights and optimizer state."""
        return self.weights + self.optimizer_state

    @derived("n_entries", source=OPTIMIZERS)
    def checkpoint_entries(self: Any) -> float:
        """Tensors in a checkpoint."""
        matrices, vectors = self.matrix_count, self.vector_count
        return matrices + vectors + self.counters + choose(self.optimizer, {"sgd": 0, "sgd_momentum": matrices + vectors, "adam": 2 * (matrices + vectors), "adamw": 2 * (matrices + vectors),
                                                                           "adafactor": 2 * matrices + vectors, "adafactor_transformers": 2 * matrices + vectors})

    @derived("M_file", "byte", source=FILE)
    def checkpoint_file(self: Any) -> Quantity:
        """The file that torch.save writes."""
        return self.checkpoint_tensors + self.checkpoint_entries * self.entry_size + self.file_overhead

    presentation = Presentation(
        title="Stored state of {parameters} parameters, {optimizer}",
        question="What does a checkpoint weigh?",
        parts=("weights", "optimizer_state"), whole="checkpoint_tensors",
        groups={"In memory": ("weights", "gradients", "optimizer_state"), "On disk": ("checkpoint_tensors", "checkpoint_entries", "checkpoint_file"),
                "Counts": ("parameters", "matrix_parameters", "vector_parameters", "matrix_count", "vector_count", "factored_values", "kept_values", "counters", "width", "kept_width")})
    about = About(
        assumptions=("Every weight and gradient has one format.", "Parameters are matrices or vectors; of a stack of matrices each is counted."),
        exclusions=("Master weights, which mixed precision keeps beside these.", "Buffers that are no parameters, learning-rate schedules, random states."),
        references=(OPTIMIZERS, ADAM, ADAFACTOR),
        example=">>> from mlsysim.engine.scenario_types import ParameterMatrix, StoredStateScenario\n"
                ">>> one = StoredStateScenario(matrices=[ParameterMatrix(name=\"a matrix\", out_dim=1024, in_dim=512)], optimizer=\"adafactor\")\n"
                ">>> print(one.substitution(\"optimizer_state\"))\n"
                "M_opt = 1,536 × 4 B + 1 × 4 B = 6.15 kB\n")


__all__ = ["ParameterMatrix", "ParameterVector", "StoredStateScenario"]
