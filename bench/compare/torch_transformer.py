"""A Transformer with MarianMT's architecture, optimized for speed in PyTorch, as a reference for headlight's speed.

It has fused query-key-value projections, scaled_dot_product_attention, tied embeddings, and a loss that projects only
rows that are not padding.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Multi-head self-attention of x [batch, query, model], or cross-attention over a memory [batch, key, model]."""

    def __init__(self, model, heads, dropout, cross):
        super().__init__()
        self.heads, self.dropout, self.cross = heads, dropout, cross
        if cross:
            self.query = nn.Linear(model, model)
            self.key_value = nn.Linear(model, 2 * model)
        else:
            self.query_key_value = nn.Linear(model, 3 * model)
        self.out = nn.Linear(model, model)

    def forward(self, x, memory=None, mask=None, causal=False):
        if self.cross:
            parts = [self.query(x), *self.key_value(memory).chunk(2, -1)]
        else:
            parts = self.query_key_value(x).chunk(3, -1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        attended = F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, is_causal=causal, dropout_p=self.dropout if self.training else 0.0)
        return self.out(attended.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """A post-norm encoder layer, or a decoder layer if `cross` is true."""

    def __init__(self, model, heads, ffn, dropout, cross):
        super().__init__()
        self.attention = Attention(model, heads, dropout, cross=False)
        self.attention_norm = nn.LayerNorm(model)
        if cross:
            self.cross_attention = Attention(model, heads, dropout, cross=True)
            self.cross_attention_norm = nn.LayerNorm(model)
        self.ffn_in, self.ffn_out = nn.Linear(model, ffn), nn.Linear(ffn, model)
        self.ffn_norm = nn.LayerNorm(model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None, causal=False, memory=None, memory_mask=None):
        x = self.attention_norm(x + self.dropout(self.attention(x, mask=mask, causal=causal)))
        if memory is not None:
            x = self.cross_attention_norm(x + self.dropout(self.cross_attention(x, memory, memory_mask)))
        return self.ffn_norm(x + self.dropout(self.ffn_out(F.relu(self.ffn_in(x)))))


def sinusoids(length, model):
    """Returns MarianMT's position encodings: the sines of all frequencies, followed by their cosines."""
    frequency = torch.exp(torch.arange(0, model, 2) * (-math.log(10000.0) / model))
    angle = torch.arange(length).unsqueeze(1) * frequency
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class Transformer(nn.Module):
    def __init__(self, vocabulary, layers, model, heads, ffn, dropout, positions=512):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, model)
        nn.init.normal_(self.embedding.weight, std=model**-0.5)
        self.logits_bias = nn.Buffer(torch.zeros(vocabulary))
        self.positions = nn.Buffer(sinusoids(positions, model), persistent=False)
        self.scale = math.sqrt(model)
        self.encoder = nn.ModuleList(Layer(model, heads, ffn, dropout, cross=False) for _ in range(layers))
        self.decoder = nn.ModuleList(Layer(model, heads, ffn, dropout, cross=True) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def embed(self, tokens):
        return self.dropout(self.embedding(tokens) * self.scale + self.positions[: tokens.shape[1]])

    def forward(self, source, mask, target_in):
        """Returns hidden states [batch, target, model] for token ids [batch, source] and [batch, target].

        mask [batch, 1, 1, source] is true at source tokens that are not padding. It is None if there is no padding.
        """
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, mask=mask)
        x = self.embed(target_in)
        for layer in self.decoder:  # padding is at the end, where causal attention ignores it
            x = layer(x, causal=True, memory=memory, memory_mask=mask)
        return x

    def loss(self, source, mask, target_in, rows, labels, label_smoothing):
        """Returns the mean cross-entropy of labels [tokens] at the rows [tokens] of the flattened target that are not
        padding."""
        hidden = self(source, mask, target_in).flatten(0, 1)
        if rows is not None:
            hidden = hidden.index_select(0, rows)
        logits = F.linear(hidden, self.embedding.weight, self.logits_bias)
        return F.cross_entropy(logits, labels, label_smoothing=label_smoothing)


def from_marian(tensors):
    """Returns the state dict of this Transformer from the tensors of a MarianMT model.safetensors."""
    state = {"embedding.weight": tensors["model.shared.weight"]}
    if "final_logits_bias" in tensors:
        state["logits_bias"] = tensors["final_logits_bias"].flatten()

    def linear(ours, *theirs):
        for kind in ("weight", "bias"):
            state[f"{ours}.{kind}"] = torch.cat([tensors[f"{name}.{kind}"] for name in theirs])

    for stack in ("encoder", "decoder"):
        layer = 0
        while f"model.{stack}.layers.{layer}.fc1.weight" in tensors:
            ours, theirs = f"{stack}.{layer}", f"model.{stack}.layers.{layer}"
            projections = [f"{theirs}.self_attn.{name}_proj" for name in "qkv"]
            linear(f"{ours}.attention.query_key_value", *projections)
            linear(f"{ours}.attention.out", f"{theirs}.self_attn.out_proj")
            linear(f"{ours}.attention_norm", f"{theirs}.self_attn_layer_norm")
            if stack == "decoder":
                projections = [f"{theirs}.encoder_attn.{name}_proj" for name in "qkv"]
                linear(f"{ours}.cross_attention.query", projections[0])
                linear(f"{ours}.cross_attention.key_value", *projections[1:])
                linear(f"{ours}.cross_attention.out", f"{theirs}.encoder_attn.out_proj")
                linear(f"{ours}.cross_attention_norm", f"{theirs}.encoder_attn_layer_norm")
            linear(f"{ours}.ffn_in", f"{theirs}.fc1")
            linear(f"{ours}.ffn_out", f"{theirs}.fc2")
            linear(f"{ours}.ffn_norm", f"{theirs}.final_layer_norm")
            layer += 1
    return state
