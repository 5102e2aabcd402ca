"""The verdict on a row: met, missed, not tried, or one of the few that the kit has no words for."""
from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import activations, deepspeed, hardware, megatron, parameters, zero
from .rows import Row

TOPICS = {"1": zero, "2": activations, "3": megatron, "4": deepspeed, "7": parameters, "8": hardware}

# What a memory model of one accelerator cannot say.
NOT_EXPRESSED = (
    (r"ZERO-32-act", "takes 12hbsL elements for as many bytes"),
    (r"ZERO-COMM-.*", "communication volume in time, not memory"),
    (r"KOR-flop-.*", "extra arithmetic of recomputation, not memory"),
    (r"KOR-APPB", "a scheduling detail: output tensors freed early"),
    (r"DS-z3-none-gpu", "a rule of thumb: 18 bytes shared, and four bytes for each parameter of the largest layer"),
    (r"DS-t5large-case1", "the same rule of thumb"),
    (r"DS-.*", "host memory and offloading are not modelled"),
)


def mentions_host(row: Row) -> bool:
    """Whether a DeepSpeed row is about what is offloaded, or about the host's memory."""
    words = f"{row.inputs.get('options', '')} {row.inputs.get('case', '')} {row.inputs.get('states', '')} {row.quantity}".lower().replace("no offload", "")
    return "offload" in words or "cpu" in words or "host" in words


def not_expressed(row: Row) -> str:
    """Why the kit has no words for a row; empty where it has."""
    for pattern, reason in NOT_EXPRESSED:
        if re.fullmatch(pattern, row.id) and (pattern != "DS-.*" or mentions_host(row)):
            return reason
    return ""


@dataclass
class Verdict:
    """What became of a row."""

    row: Row
    state: str                                    # met, missed, not expressed, not tried
    why: str = ""
    compared: list[tuple[float, float]] = field(default_factory=list)


def judge(row: Row) -> Verdict:
    """Compute a row's quantity with the kit and compare."""
    if reason := not_expressed(row):
        return Verdict(row, "not expressed", reason)
    topic = TOPICS.get(row.topic.partition(" ")[0])
    answer = topic.answer(row) if topic else None
    if answer is None:
        return Verdict(row, "not tried", "no rule reads a row of this shape" if topic else "a topic of other parts of the kit")
    compared = answer if isinstance(answer, list) else [(answer, row.expected)]
    missed = [f"{got:.10g} in place of {expected:.10g}" for got, expected in compared if not row.met_by(got, expected)]
    return Verdict(row, "missed" if missed else "met", "; ".join(missed), compared)
