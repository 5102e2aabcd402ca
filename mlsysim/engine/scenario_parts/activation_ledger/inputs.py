"""What decides a ledger: the model, the microbatch, how tensor parallelism divides both, the number formats, and whose code and kernels run."""
from __future__ import annotations

from typing import Any

from ....models import Workload
from ....units import Quantity
from ...declarations import derived, requires, warns
from ...derivation import Derivation
from ...expression import all_of, any_of, case, choose, is_given, not_
from ...inputs import given
from .rows import WIDTHS

ADAPTERS = "Hu et al. 2022, LoRA, arXiv:2106.09685"
KORTHIKANTI = "Korthikanti et al. 2023, Reducing Activation Recomputation in Large Transformer Models, arXiv:2205.05198"
AUTOGRAD = "PyTorch 2.13, tools/autograd/derivatives.yaml"
AUTOCAST = "PyTorch 2.13 documentation, Automatic Mixed Precision, Autocast Op Reference"
TRANSFORMERS = "transformers 5.24"
MEASURED = "measured with PyTorch 2.13 on a CPU, tests/facts/measured_activations.json"


class LedgerInputs(Derivation):
    """The inputs that all rows of the ledger share, and the widths and divisions that follow."""

    workload: Workload = given(example="Models.Language.Llama3_8B", doc="The model, by its architecture.")
    seq_len: int | None = given("s", default=lambda self: self.workload.context_length, positive=True, example="1024",
                                doc="Tokens of a sequence; the model's context length where none is stated.")
    microbatch: int = given("b", default=1, positive=True, example="8", doc="Sequences that pass forward together before their backward pass.")
    tp_size: int = given("t", default=1, positive=True, doc="Tensor parallelism: ranks that share each layer's matrices.", source="Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053, section 3")
    sequence_parallel: bool = given(default=True, doc="Whether tensor-parallel ranks also divide, along the sequence, what their matrices do not divide.",
                                    source=f"{KORTHIKANTI}, section 4.2.2")
    precision: str = given(default="bf16", choices=("bf16", "fp16", "fp32", "autocast"), aliases={"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "mixed": "autocast"},
                           doc="Number format: everything in one format, or autocast, where fp32 weights and an fp32 residual stream meet 16-bit matrix products.", source=AUTOCAST)
    attention: str = given(default="fused", choices=("fused", "eager"), aliases={"flash": "fused", "sdpa": "fused", "flash_attention": "fused"},
                           doc="One fused operation that never holds the scores of a whole sequence, or matrix products and a softmax one by one.",
                           source="Dao et al. 2022, FlashAttention, arXiv:2205.14135, section 3.1")
    attention_dropout: bool = given(default=False, doc="Whether attention weights are dropped at random.")
    hidden_dropout: bool = given(default=False, doc="Whether the outputs of attention and of the feed-forward part are dropped at random.")
    embedding_dropout: bool = given(default=False, doc="Whether the embeddings are dropped at random.")
    kernels: str = given(default="gpu", choices=("gpu", "cpu"), doc="Whose kernels run: some save other tensors on a CPU than on a GPU.", source=MEASURED)

    # Whose code runs.

    activation_function: str | None = given(default=lambda self: case((self.workload.gated_mlp, "silu"), otherwise="gelu"), choices=("gelu", "gelu_new", "gelu_erf", "silu", "relu"),
                                     aliases={"gelu_tanh": "gelu", "gelu_pytorch_tanh": "gelu", "swish": "silu"}, source="Shazeer 2020, arXiv:2002.05202, section 2; Hendrycks and Gimpel 2016, arXiv:1606.08415",
                                     doc="The nonlinearity: gelu, silu and relu are one operation each; gelu_new is the composition of eight that transformers runs for GPT-2, gelu_erf the one of an error function and products that "
                                         "early BERT code runs.")
    rmsnorm_code: str | None = given(default=lambda self: case((self.kernels == "cpu", "composite"), otherwise="fused"), choices=("fused", "composite", "transformers"), source=MEASURED,
                              doc="How root-mean-square normalization is computed: as one operation, as PyTorch composes it on a CPU, or as transformers' Llama composes it anywhere.")
    joint_projection: bool | None = given(default=lambda self: self.workload.positions != "rotary", source=f"{TRANSFORMERS}, models/gpt2 and models/llama",
                                   doc="Whether one matrix gives queries, keys and values together, as in GPT-2, or three do, as in Llama.")
    causal_mask: str = given(default="filled", choices=("filled", "added"), source=f"{AUTOGRAD}, masked_fill and add",
                             doc="How eager attention hides later tokens: filled into the scores, which keeps the mask, or added to them, which keeps nothing.")
    softmax_in_fp32: bool = given(default=False, doc="Whether eager attention computes its softmax in fp32 and casts the result back, as transformers' Llama does.",
                                  source=f"{TRANSFORMERS}, models/llama/modeling_llama.py, eager_attention_forward")
    key_value_cache: bool = given(default=False, doc="Whether keys and values are also appended to a cache, which copies them: transformers does so even in training unless use_cache=False.",
                                  source=f"{TRANSFORMERS}, cache_utils.py, DynamicLayer.update")

    # What of the model is trained.

    frozen_matrices: bool = given(default=False, doc="Whether all weights are frozen but adapters: then no input of a matrix is kept for its gradient.", source=ADAPTERS)
    adapted: str = given(default="none", choices=("none", "queries_values", "all_matrices"), source=f"{ADAPTERS}, section 4.2", doc="Which of a layer's matrices have low-rank adapters beside them.")
    adapter_rank: int = given("r", default=8, doc="Rank of the adapters, where there are any.", source=f"{ADAPTERS}, section 4.1")
    adapter_dropout: bool = given(default=False, doc="Whether an adapter's input is dropped at random, which gives it an input of its own.", source=f"{ADAPTERS}, appendix D")

    # Widths.

    @derived("β", "byte", source=AUTOCAST)
    def compute_width(self: Any) -> Quantity:
        """Bytes of a value that goes into or comes out of a matrix product."""
        return case((self.precision == "fp32", choose("fp32", WIDTHS)), otherwise=choose("bf16", WIDTHS))

    @derived("β_x", "byte", source=AUTOCAST)
    def residual_width(self: Any) -> Quantity:
        """Bytes of a value in the residual stream, which autocast leaves in fp32."""
        return case((self.precision == "autocast", choose("fp32", WIDTHS)), otherwise=self.compute_width)

    @derived("β_mask", "byte", source=f"{AUTOGRAD}, native_dropout; {MEASURED}")
    def hidden_mask_width(self: Any) -> Quantity:
        """Bytes of a value in a dropout mask: GPU kernels keep a truth value, CPU kernels a number that they multiply with."""
        return case((self.kernels == "gpu", choose("bool", WIDTHS)), otherwise=self.compute_width)

    @derived("β_mask,x", "byte", source=f"{AUTOGRAD}, native_dropout; {MEASURED}")
    def residual_mask_width(self: Any) -> Quantity:
        """Bytes of a value in a dropout mask of the residual stream."""
        return case((self.kernels == "gpu", choose("bool", WIDTHS)), otherwise=self.residual_width)

    @derived("inputs kept", source=f"{AUTOGRAD}, linear: a frozen weight has no gradient")
    def keeps_matrix_inputs(self: Any) -> bool:
        """Whether matrices keep their inputs, for their own gradients or for those of adapters that read the same."""
        return any_of(not_(self.frozen_matrices), all_of(self.adapted == "all_matrices", not_(self.adapter_dropout)))

    # What one rank holds of a sequence and of the heads.

    @derived("t_s", source=f"{KORTHIKANTI}, section 4.2.2")
    def sequence_shards(self: Any) -> int:
        """Parts that the sequence is divided into outside the matrices that tensor parallelism shares."""
        return case((self.sequence_parallel, self.tp_size), otherwise=1)

    @derived("s_rank", source=f"{KORTHIKANTI}, section 4.2.2")
    def tokens_outside(self: Any) -> float:
        """A sequence's tokens that one rank holds outside the shared matrices."""
        return self.seq_len / self.sequence_shards

    @derived("a_rank", source="Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053, section 3")
    def heads_per_rank(self: Any) -> float:
        """Attention heads of one rank."""
        return self.workload.heads / self.tp_size

    @derived("a_kv,rank", source="Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053, section 3")
    def kv_heads_per_rank(self: Any) -> float:
        """Key and value heads of one rank; where there are fewer than ranks, each rank holds one."""
        return case((self.workload.kv_heads > self.tp_size, self.workload.kv_heads / self.tp_size), otherwise=1)

    @derived("f_rank", source="Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053, section 3")
    def feedforward_per_rank(self: Any) -> float:
        """Inner width of the feed-forward block on one rank."""
        return self.workload.feedforward_dim / self.tp_size

    @requires("tp_size={tp_size} does not divide the {workload.heads} heads; write a tp_size that does", source="Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053, section 3")
    def heads_are_shared_evenly(self: Any) -> bool:
        """Tensor parallelism gives every rank whole heads."""
        return self.workload.heads % self.tp_size == 0

    @requires("{workload.name} routes tokens to experts, which the ledger does not describe; write a workload without experts")
    def the_model_is_dense(self: Any) -> bool:
        """The ledger describes dense layers."""
        return not_(is_given(self.workload.experts))

    @warns("seq_len={seq_len} is longer than the {workload.context_length} tokens that {workload.name} was made for.")
    def sequence_beyond_context(self: Any) -> bool:
        """Longer sequences than a model was made for."""
        return all_of(is_given(self.workload.context_length), self.seq_len > self.workload.context_length)

    @warns("tp_size={tp_size} does not divide seq_len={seq_len}: the shares are averages.")
    def sequence_is_shared_unevenly(self: Any) -> bool:
        """Sequence parallelism pads a sequence that does not divide."""
        return all_of(self.sequence_parallel, self.seq_len % self.tp_size != 0)

    @derived("autocast", source=AUTOCAST)
    def casts(self: Any) -> bool:
        """Whether every matrix product casts its inputs and weights first."""
        return self.precision == "autocast"

    @derived("fp32 on gpu", source=AUTOCAST)
    def casts_up_on_gpu(self: Any) -> bool:
        """Whether softmax and powers are computed in fp32, as autocast does on a GPU and not on a CPU."""
        return all_of(self.precision == "autocast", self.kernels == "gpu")


__all__ = ["ADAPTERS", "AUTOCAST", "AUTOGRAD", "KORTHIKANTI", "LedgerInputs", "MEASURED", "TRANSFORMERS"]
