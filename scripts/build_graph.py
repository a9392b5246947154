"""Write pymem/embedding/minilm.onnx: BERT with mean pooling, as in all-MiniLM-L6-v2.

The graph names the weights of the saved model; the session gets them when it starts. So nothing is
exported, and the digest of the saved weights stays the version of the vectors.

J. Devlin et al., BERT, NAACL 2019; N. Reimers, I. Gurevych, Sentence-BERT, EMNLP 2019.
"""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, helper

from pymem.embedding.saved_model import ARCHITECTURE

GRAPH = Path(__file__).parent.parent / "pymem" / "embedding" / "minilm.onnx"

WIDTH = ARCHITECTURE["hidden_size"]
INNER = ARCHITECTURE["intermediate_size"]


class Builder:
    """Collects nodes and initializers; every method returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: dict[str, TensorProto] = {}

    def weight(self, name: str, *shape: int) -> str:
        """Declare a weight of the saved model."""
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="given when the session starts")
        self.initializers[name] = tensor
        return name

    def constant(self, *values: int) -> str:
        """Declare a list of integers."""
        name = f"constant {values}"
        self.initializers[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], values)
        return name

    def apply(self, operator: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        """Add a node."""
        result = f"{operator} {len(self.nodes)}"
        node = helper.make_node(operator, inputs, [result], domain=domain, **attributes)
        self.nodes.append(node)
        return result

    def linear(self, values: str, name: str, outputs: int, inputs: int) -> str:
        """Multiply by a matrix and add a vector."""
        matrix = self.weight(f"{name}.weight", outputs, inputs)
        shift = self.weight(f"{name}.bias", outputs)
        return self.apply("Gemm", values, matrix, shift, transB=1)

    def normalize(self, values: str, name: str) -> str:
        """Normalize each row."""
        scale, shift = (self.weight(f"{name}.{part}", WIDTH) for part in ("weight", "bias"))
        epsilon = ARCHITECTURE["layer_norm_eps"]
        return self.apply("LayerNormalization", values, scale, shift, epsilon=epsilon)


def build_graph() -> ModelProto:
    """Return the model from tokens and mask, (texts, tokens) each, to vectors of length 1."""
    graph = Builder()
    apply, constant = graph.apply, graph.constant

    def embeddings(kind: str, count: str) -> str:
        return graph.weight(f"embeddings.{kind}_embeddings.weight", ARCHITECTURE[count], WIDTH)

    words = apply("Gather", "words", "tokens")
    length = apply("Shape", "tokens", start=1)
    positions = apply(
        "Slice", embeddings("position", "max_position_embeddings"), constant(0), length
    )
    first_sentence = apply(
        "Slice", embeddings("token_type", "type_vocab_size"), constant(0), constant(1)
    )
    embedded = apply("Add", apply("Add", words, first_sentence), positions)

    # Matrix products see one row per token, attention sees texts.
    by_text, by_token = apply("Shape", embedded), constant(-1, WIDTH)
    hidden = apply("Reshape", graph.normalize(embedded, "embeddings.LayerNorm"), by_token)
    for number in range(ARCHITECTURE["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            apply(
                "Reshape",
                graph.linear(hidden, f"{layer}.attention.self.{name}", WIDTH, WIDTH),
                by_text,
            )
            for name in ("query", "key", "value")
        )
        attended = apply(
            "MultiHeadAttention",
            *(query, key, value, "", "mask"),
            domain="com.microsoft",
            num_heads=ARCHITECTURE["num_attention_heads"],
        )
        attended = graph.linear(
            apply("Reshape", attended, by_token), f"{layer}.attention.output.dense", WIDTH, WIDTH
        )
        hidden = graph.normalize(
            apply("Add", attended, hidden), f"{layer}.attention.output.LayerNorm"
        )
        inner = apply("Gelu", graph.linear(hidden, f"{layer}.intermediate.dense", INNER, WIDTH))
        outer = graph.linear(inner, f"{layer}.output.dense", WIDTH, INNER)
        hidden = graph.normalize(apply("Add", outer, hidden), f"{layer}.output.LayerNorm")

    # The sum has the direction of the mean, and normalization leaves only the direction.
    weights = apply("Unsqueeze", apply("Cast", "mask", to=TensorProto.FLOAT), constant(1))
    total = apply("MatMul", weights, apply("Reshape", hidden, by_text))
    vectors = apply("LpNormalization", apply("Squeeze", total, constant(1)))

    value = helper.make_tensor_value_info
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "sentence embedding",
            inputs=[
                value("tokens", TensorProto.INT32, ["texts", "tokens"]),
                value("mask", TensorProto.INT32, ["texts", "tokens"]),
                # Not an initializer: the session would copy its 47 MB instead of mapping them.
                value("words", TensorProto.FLOAT, [ARCHITECTURE["vocab_size"], WIDTH]),
            ],
            outputs=[value(vectors, TensorProto.FLOAT, ["texts", WIDTH])],
            initializer=list(graph.initializers.values()),
        ),
        ir_version=8,
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
    )


if __name__ == "__main__":
    GRAPH.write_bytes(build_graph().SerializeToString(deterministic=True))
