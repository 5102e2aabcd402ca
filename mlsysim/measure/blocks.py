"""One transformer block in plain PyTorch, written out operation by operation as a ledger's inputs say."""
from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional

NONLINEARITIES = {"gelu": functional.gelu, "silu": functional.silu, "relu": functional.relu}


class FusedRmsNormOperation(torch.autograd.Function):
    """Root-mean-square normalization as one operation, which keeps its input and one statistic for each token, as GPU kernels do."""

    @staticmethod
    def forward(context: Any, x: Any, weight: Any, epsilon: float) -> Any:
        reciprocal = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + epsilon)
        context.save_for_backward(x, weight, reciprocal)
        return (x * reciprocal).to(x.dtype) * weight

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        x, weight, reciprocal = context.saved_tensors
        normalized = x * reciprocal
        scaled = gradient * weight
        to_x = reciprocal * (scaled - normalized * (scaled * normalized).mean(-1, keepdim=True))
        to_weight = (gradient * normalized).flatten(0, -2).sum(0)
        return to_x.to(x.dtype), to_weight.to(weight.dtype), None


class RmsNorm(nn.Module):
    """Root-mean-square normalization in one of three codes: one operation, PyTorch's own, or composed as in transformers' Llama."""

    def __init__(self, width: int, code: str):
        super().__init__()
        self.weight, self.code, self.epsilon = nn.Parameter(torch.ones(width)), code, 1e-6

    def forward(self, x: Any) -> Any:
        if self.code == "fused":
            return FusedRmsNormOperation.apply(x, self.weight, self.epsilon)
        if self.code == "composite":
            return functional.rms_norm(x, self.weight.shape, self.weight, self.epsilon)
        upcast = x.to(torch.float32)
        normalized = upcast * torch.rsqrt(upcast.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return self.weight * normalized.to(x.dtype)


def gelu_new(x: Any) -> Any:
    """The composition of eight operations that transformers runs for GPT-2 (transformers 5.24, activations.py, NewGELUActivation)."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def rotary_tables(length: int, width: int, dtype: Any) -> tuple[Any, Any]:
    """Cosines and sines of every position's angles, of shape (length, width), which all heads and layers share."""
    frequencies = 10000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.outer(torch.arange(length), frequencies).repeat(1, 2)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotated(x: Any, cosines: Any, sines: Any) -> Any:
    """Each half of a head's width turned against the other (Su et al. 2021, arXiv:2104.09864, section 3.4.2)."""
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat((-second, first), dim=-1) * sines


class Block(nn.Module):
    """A pre-normalization transformer block that keeps what an ActivationLedgerScenario says such a block keeps.

    `of` is the scenario; its microbatch, seq_len and precision are those of the input that `forward` is given.
    """

    def __init__(self, of: Any):
        super().__init__()
        model = of.workload
        self.of, self.heads, self.kv_heads, self.head_dim = of, model.heads, model.kv_heads, model.head_dim
        inner, kv_inner = self.heads * self.head_dim, self.kv_heads * self.head_dim
        biased = model.linear_biases == "all"
        projected = biased or model.linear_biases == "qkv"
        make_norm = nn.LayerNorm if model.norm == "layernorm" else lambda width: RmsNorm(width, of.rmsnorm_code)
        self.attention_norm, self.feedforward_norm = make_norm(model.hidden_dim), make_norm(model.hidden_dim)
        if of.joint_projection:
            self.joint = nn.Linear(model.hidden_dim, inner + 2 * kv_inner, bias=projected)
        else:
            self.query, self.key, self.value = (nn.Linear(model.hidden_dim, width, bias=projected) for width in (inner, kv_inner, kv_inner))
        if model.qk_norm:
            self.query_norm, self.key_norm = make_norm(self.head_dim), make_norm(self.head_dim)
        self.output = nn.Linear(inner, model.hidden_dim, bias=biased)
        self.first = nn.Linear(model.hidden_dim, model.feedforward_dim, bias=biased)
        if model.gated_mlp:
            self.gated = nn.Linear(model.hidden_dim, model.feedforward_dim, bias=biased)
        self.last = nn.Linear(model.feedforward_dim, model.hidden_dim, bias=biased)

    def _dropped(self, x: Any, wanted: bool) -> Any:
        return functional.dropout(x, 0.1, self.training) if wanted else x

    def _split(self, x: Any) -> tuple[Any, Any, Any]:
        """Queries, keys and values of shape (sequences, heads, tokens, width of a head)."""
        if self.of.joint_projection:
            widths = [heads * self.head_dim for heads in (self.heads, self.kv_heads, self.kv_heads)]
            parts = self.joint(x).split(widths, dim=-1)
        else:
            parts = self.query(x), self.key(x), self.value(x)
        query, key, value = (part.unflatten(-1, (-1, self.head_dim)) for part in parts)
        if self.of.workload.qk_norm:
            query, key = self.query_norm(query), self.key_norm(key)
        return query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)

    def _eager(self, query: Any, key: Any, value: Any, residual: Any) -> Any:
        if self.heads != self.kv_heads:
            key, value = (x.repeat_interleave(self.heads // self.kv_heads, dim=1) for x in (key, value))
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        if self.of.causal_mask == "filled":
            scores = scores.masked_fill(later, -math.inf)
        else:
            scores = scores + torch.zeros(later.shape, dtype=residual).masked_fill(later, torch.finfo(residual).min)
        if self.of.softmax_in_fp32:
            weights = functional.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
        else:
            weights = functional.softmax(scores, dim=-1).to(value.dtype)
        return self._dropped(weights, self.of.attention_dropout) @ value

    def _attention(self, x: Any, tables: Any, residual: Any) -> Any:
        query, key, value = self._split(x)
        if tables:
            query, key = rotated(query, *tables), rotated(key, *tables)
        if self.of.key_value_cache:
            key, value = key.clone(), value.clone()
        if self.of.attention == "eager":
            mixed = self._eager(query, key, value, residual)
        else:
            dropped = 0.1 if self.of.attention_dropout and self.training else 0.0
            mixed = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropped, is_causal=True, enable_gqa=self.heads != self.kv_heads)
        return self.output(mixed.transpose(1, 2).flatten(-2))

    def _feedforward(self, x: Any) -> Any:
        nonlinear = NONLINEARITIES.get(self.of.activation_function, gelu_new)
        inner = nonlinear(self.first(x))
        if self.of.workload.gated_mlp:
            inner = inner * self.gated(x)
        return self.last(inner)

    def forward(self, x: Any, tables: Any = ()) -> Any:
        x = x + self._dropped(self._attention(self.attention_norm(x), tables, x.dtype), self.of.hidden_dropout)
        return x + self._dropped(self._feedforward(self.feedforward_norm(x)), self.of.hidden_dropout)


__all__ = ["Block", "RmsNorm", "gelu_new", "rotary_tables", "rotated"]
