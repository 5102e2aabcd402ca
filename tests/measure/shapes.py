"""The shapes at which predicted and measured bytes are compared, chosen before any formula was held against a measurement.

They cross what could hide an error: sequences shorter and longer than the width, lengths and widths that are no power of two,
one head and many, one sequence and several, a feed-forward width other than four times the hidden width, grouped and
ungrouped keys, heads wider or narrower than the hidden width split evenly.
"""
from __future__ import annotations

from typing import NamedTuple


class GptShape(NamedTuple):
    """A block with layer normalization, GELU and biases."""
    sequence_length: int
    microbatch_size: int
    hidden_dim: int
    heads: int
    feedforward_dim: int


class LlamaShape(NamedTuple):
    """A block with root-mean-square normalization, a gated feed-forward part, grouped queries and rotary positions."""
    sequence_length: int
    microbatch_size: int
    hidden_dim: int
    heads: int
    kv_heads: int
    head_dim: int
    feedforward_dim: int


GPT_SHAPES = (
    GptShape(256, 2, 256, 8, 1024),
    GptShape(128, 1, 768, 12, 3072),
    GptShape(512, 1, 128, 4, 512),
    GptShape(64, 8, 512, 8, 2048),
    GptShape(100, 3, 192, 6, 768),
    GptShape(1024, 1, 64, 1, 256),
    GptShape(33, 5, 320, 5, 1280),
    GptShape(200, 2, 384, 16, 1536),
    GptShape(16, 16, 1024, 16, 4096),
    GptShape(384, 2, 256, 4, 640),
    GptShape(77, 4, 96, 2, 1000),
    GptShape(640, 1, 512, 32, 2048),
)

LLAMA_SHAPES = (
    LlamaShape(256, 2, 256, 8, 2, 32, 704),
    LlamaShape(128, 1, 768, 12, 12, 64, 2048),
    LlamaShape(512, 1, 128, 4, 1, 32, 352),
    LlamaShape(64, 8, 512, 8, 4, 64, 1376),
    LlamaShape(100, 3, 192, 6, 3, 32, 512),
    LlamaShape(1024, 1, 64, 2, 1, 32, 172),
    LlamaShape(33, 5, 320, 10, 5, 32, 864),
    LlamaShape(200, 2, 384, 16, 4, 24, 1024),
    LlamaShape(16, 16, 1024, 16, 8, 64, 2816),
    LlamaShape(384, 2, 256, 4, 2, 128, 640),
    LlamaShape(77, 4, 96, 6, 2, 8, 1000),
    LlamaShape(640, 1, 512, 32, 4, 16, 1792),
)
