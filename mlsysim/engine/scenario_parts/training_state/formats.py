"""The number formats that training stores values in, and how wide each is."""
from __future__ import annotations

from ...expression import Table

BYTES = Table("bytes", "byte", {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int4": 0.5, "nf4": 0.5}, source={
    "fp32": "IEEE 754-2019, section 3.6, binary32",
    "tf32": "NVIDIA 2020, A100 Tensor Core GPU Architecture, section on TF32: read from and written to memory as fp32",
    "bf16": "Kalamkar et al. 2019, A Study of BFLOAT16 for Deep Learning Training, arXiv:1905.12322, section 2",
    "fp16": "IEEE 754-2019, section 3.6, binary16",
    "fp8": "Micikevicius et al. 2022, FP8 Formats for Deep Learning, arXiv:2209.05433, section 3",
    "int8": "Dettmers et al. 2022, LLM.int8(), arXiv:2208.07339, section 2",
    "int4": "Frantar et al. 2023, GPTQ, arXiv:2210.17323, section 4",
    "nf4": "Dettmers et al. 2023, QLoRA, arXiv:2305.14314, section 3",
})

FORMAT_ALIASES = {"float32": "fp32", "single": "fp32", "tensorfloat32": "tf32", "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float8": "fp8", "8bit": "int8", "8-bit": "int8",
                  "4bit": "int4", "4-bit": "int4"}
GRADIENT_FORMATS = ("fp32", "bf16", "fp16")
STATE_FORMATS = ("fp32", "bf16", "fp16", "int8")

MIXED_PRECISION = "Micikevicius et al. 2018, Mixed Precision Training, arXiv:1710.03740, section 3.1"
FP8_TRAINING = "NVIDIA, Transformer Engine user guide, FP8 primary weights (fp8_model_init)"

__all__ = ["BYTES", "FORMAT_ALIASES", "FP8_TRAINING", "GRADIENT_FORMATS", "MIXED_PRECISION", "STATE_FORMATS"]
