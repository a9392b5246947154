"""BERT with mean pooling, as in all-MiniLM-L6-v2, as an ONNX graph.

The graph holds no weights: it says where in the saved model's own file they lie. So nothing is
exported, and the digest of that file stays the version of the vectors.

J. Devlin et al., BERT, NAACL 2019; N. Reimers, I. Gurevych, Sentence-BERT, EMNLP 2019.
"""

from __future__ import annotations

from pymem.embedding.onnx_graph import FLOAT, INT32, Graph
from pymem.embedding.saved_model import SavedModel

_FUSED = "com.microsoft"


def obstacle(model: SavedModel) -> str | None:
    """Return why a model is none that sentence_graph describes; None if it is one."""
    try:
        pooling = model.json(f"{model.modules['Pooling']['path']}/config.json")
        legacy_modes = {
            name for name, on in pooling.items() if name.startswith("pooling_mode_") and on
        }
        requirements = {
            "its transformer is no BERT": (
                model.config["model_type"] == "bert"
                and model.config["hidden_act"] == "gelu"
                and model.config["position_embedding_type"] == "absolute"
            ),
            "it is more than transformer, pooling and normalization": (
                list(model.modules) == ["Transformer", "Pooling", "Normalize"]
            ),
            "it does not pool by the mean": (
                pooling.get("pooling_mode", "mean") == "mean"
                and legacy_modes <= {"pooling_mode_mean_tokens"}
            ),
            "it puts a prompt before texts": (
                not model.json("config_sentence_transformers.json").get("default_prompt_name")
            ),
            "its weights are not float32": all(
                tensor.dtype == "F32"
                for name, tensor in model.tensors.items()
                if name.endswith((".weight", ".bias"))
            ),
        }
    except (OSError, ValueError, KeyError) as error:
        return f"its files cannot be read ({error!r})"
    return next((reason for reason, holds in requirements.items() if not holds), None)


def sentence_graph(model: SavedModel) -> bytes:
    """Return an ONNX model from tokens and mask, (texts, tokens) each, to vectors of length 1."""
    config, graph = model.config, Graph()
    width, epsilon = config["hidden_size"], config["layer_norm_eps"]
    apply, constant = graph.apply, graph.constant

    def weight(name: str) -> str:
        tensor = model.tensors[name]
        return graph.weight(name, tensor.shape, model.weights.name, tensor.offset, tensor.length)

    def linear(values: str, name: str) -> str:
        return apply("Gemm", values, weight(f"{name}.weight"), weight(f"{name}.bias"), transB=1)

    def normalized(values: str, name: str) -> str:
        scale, shift = weight(f"{name}.weight"), weight(f"{name}.bias")
        return apply("LayerNormalization", values, scale, shift, epsilon=epsilon)

    tokens = graph.input("tokens", INT32, ("texts", "tokens"))
    mask = graph.input("mask", INT32, ("texts", "tokens"))
    words = apply("Gather", weight("embeddings.word_embeddings.weight"), tokens)
    positions = apply(
        "Slice",
        weight("embeddings.position_embeddings.weight"),
        constant(0),
        apply("Shape", tokens, start=1),
    )
    first_sentence = apply(
        "Slice", weight("embeddings.token_type_embeddings.weight"), constant(0), constant(1)
    )
    embedded = apply("Add", apply("Add", words, first_sentence), positions)

    # Matrix products see one row per token, attention sees texts.
    by_text, by_token = apply("Shape", embedded), constant(-1, width)
    hidden = apply("Reshape", normalized(embedded, "embeddings.LayerNorm"), by_token)
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            apply("Reshape", linear(hidden, f"{layer}.attention.self.{name}"), by_text)
            for name in ("query", "key", "value")
        )
        attended = apply(
            "MultiHeadAttention",
            *(query, key, value, "", mask),
            domain=_FUSED,
            num_heads=config["num_attention_heads"],
        )
        attended = linear(apply("Reshape", attended, by_token), f"{layer}.attention.output.dense")
        hidden = normalized(apply("Add", attended, hidden), f"{layer}.attention.output.LayerNorm")
        inner = apply("Gelu", linear(hidden, f"{layer}.intermediate.dense"))
        outer = linear(inner, f"{layer}.output.dense")
        hidden = normalized(apply("Add", outer, hidden), f"{layer}.output.LayerNorm")

    # The sum has the direction of the mean, and only the direction is left in the end.
    weights = apply("Unsqueeze", apply("Cast", mask, to=FLOAT), constant(1))
    total = apply("MatMul", weights, apply("Reshape", hidden, by_text))
    vectors = apply("LpNormalization", apply("Squeeze", total, constant(1)))
    return graph.serialize(vectors, ("texts", width))
