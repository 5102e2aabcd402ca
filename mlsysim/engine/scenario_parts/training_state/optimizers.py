"""What each optimizer keeps for a parameter between two updates."""
from __future__ import annotations

from ...expression import Table

MUON = "Jordan et al. 2024, Muon: an optimizer for hidden layers in neural networks, kellerjordan.github.io/posts/muon; Liu et al. 2025, arXiv:2502.16982, section 2"
ADAFACTOR = "Shazeer and Stern 2018, Adafactor, arXiv:1804.04235, algorithm 4 and section 3"
BLOCKWISE = "Dettmers et al. 2022, 8-bit Optimizers via Block-wise Quantization, arXiv:2110.02861, section 2.1"

KEPT_VALUES = Table("k", "", {"adam": 2, "adamw": 2, "sgd": 0, "sgd_momentum": 1, "lion": 1, "adam_8bit": 2, "adafactor": 1, "muon": 1, "none": 0}, source={
    "adam": "Kingma and Ba 2015, Adam, arXiv:1412.6980, algorithm 1: both moments",
    "adamw": "Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2: both moments",
    "sgd": "Robbins and Monro 1951, A Stochastic Approximation Method: nothing but the parameter",
    "sgd_momentum": "Sutskever et al. 2013, On the importance of initialization and momentum in deep learning, equation 1: the velocity",
    "lion": "Chen et al. 2023, Symbolic Discovery of Optimization Algorithms, arXiv:2302.06675, program 1: the momentum",
    "adam_8bit": f"{BLOCKWISE}: both moments",
    "adafactor": f"{ADAFACTOR}: the second moment of a vector; a matrix keeps row and column sums",
    "muon": f"{MUON}: the momentum of a hidden matrix; Adam updates the rest",
    "none": "nothing is updated",
})

OPTIMIZER_ALIASES = {"sgd with momentum": "sgd_momentum", "sgd+momentum": "sgd_momentum", "momentum": "sgd_momentum", "adam8bit": "adam_8bit", "8-bit adam": "adam_8bit",
                     "8bit adam": "adam_8bit", "adamw_8bit": "adam_8bit", "adamw8bit": "adam_8bit", "8-bit adamw": "adam_8bit", "8bit adamw": "adam_8bit"}

__all__ = ["ADAFACTOR", "BLOCKWISE", "KEPT_VALUES", "MUON", "OPTIMIZER_ALIASES"]
