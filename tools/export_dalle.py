#!/usr/bin/env python3
"""Exports the parts of DALL-E as they are published to folders that headlight reads.

    pip install torch==2.15.0 safetensors==0.8.0
    tools/export_dalle.py openai encoder.pkl decoder.pkl FOLDER    # openai/DALL-E's package must be importable
    tools/export_dalle.py pytorch dalle.pt FOLDER                  # a checkpoint of DALLE-pytorch's train_dalle.py

The first makes a folder of model type `openai_vae`: the tensors of both files under their own names (`blocks.input.w`),
behind `encoder.` and `decoder.`. The second makes a folder of model type `dalle`, with that of its DiscreteVAE
(`discrete_vae`) or nothing in FOLDER/vae; a tokenizer.json that gives the ids which the model was trained on must be
put beside it.
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file


def write(folder, config, tensors):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    save_file({name: tensor.detach().float().contiguous().clone() for name, tensor in tensors.items()},
              folder / "model.safetensors")


def write_openai_vae(encoder, decoder, folder, image_size=256):
    config = {"model_type": "openai_vae", "image_size": image_size, "vocab_size": encoder.vocab_size, "n_hid": encoder.n_hid,
              "n_init": decoder.n_init, "n_blk_per_group": encoder.n_blk_per_group}
    tensors = {f"{half}.{name}": tensor for half, model in (("encoder", encoder), ("decoder", decoder))
               for name, tensor in model.state_dict().items()}
    write(folder, config, tensors)


# The arguments of DALLE-pytorch's DiscreteVAE that change what it computes.
VAE_KEYS = ("image_size", "num_tokens", "codebook_dim", "num_layers", "num_resnet_blocks", "hidden_dim")


def write_discrete_vae(arguments, tensors, folder):
    write(folder, {"model_type": "discrete_vae", **{key: arguments[key] for key in VAE_KEYS}}, tensors)


def dalle_name(name):
    """A parameter of DALLE-pytorch's DALLE as a name in the folder, or two for the head: of texts and of codes."""
    fixed = {"text_emb.weight": "text_embedding.weight", "image_emb.weight": "code_embedding.weight",
             "text_pos_emb.weight": "text_positions.weight", "image_pos_emb.weights.0": "row_positions.weight",
             "image_pos_emb.weights.1": "column_positions.weight", "to_logits.0.weight": "final_norm.weight",
             "to_logits.0.bias": "final_norm.bias"}
    if name in fixed:
        return [fixed[name]]
    if name.startswith("to_logits.1."):
        return [f"{head}.{name.rsplit('.', 1)[1]}" for head in ("text_head", "code_head")]
    # transformer.layers.layers.LAYER.PART.{scale, fn.norm.*, fn.fn[.fn]*.MODULE}
    _, _, _, layer, part, *rest = name.split(".")
    part = "attention" if part == "0" else "feed_forward"
    while rest[0] == "fn":
        rest = rest[1:]
    modules = {"scale": f"{part}_scale", "norm": f"{part}_norm", "to_qkv": f"{part}.query_key_value", "to_out.0": f"{part}.output",
               "net.0": f"{part}.inner", "net.3": f"{part}.outer"}
    rest = ".".join(rest)
    module = next(known for known in modules if rest == known or rest.startswith(known + "."))
    return [f"layers.{layer}.{modules[module]}{rest[len(module):]}"]


def dalle_tensors(named, text_ids):
    """Tensors (or gradients) of DALLE by their names there, as the folder has them; text_ids: padding ones included."""
    result = {}
    for name, tensor in named.items():
        names = dalle_name(name)
        if len(names) == 2:
            result[names[0]], result[names[1]] = tensor[:text_ids], tensor[text_ids:]
        elif "positions" in names[0] or names[0].endswith("_scale"):
            result[names[0]] = tensor.reshape(-1, tensor.shape[-1]) if "positions" in names[0] else tensor.reshape(-1)
        else:
            result[names[0]] = tensor
    return result


def write_dalle(arguments, vae, tensors, folder):
    """`arguments` of DALLE; `vae` has image_size, num_layers and num_tokens."""
    unsupported = [key for key, only in (("rotary_emb", False), ("shift_tokens", False), ("reversible", False), ("stable", False),
                                         ("sandwich_norm", False), ("share_input_output_emb", False), ("shared_attn_ids", None),
                                         ("shared_ff_ids", None)) if arguments.get(key, only) != only]
    for key in ("rotary_emb", "shift_tokens"):  # which DALLE has unless told otherwise
        if key not in arguments:
            unsupported.append(key)
    if unsupported:
        sys.exit(f"not supported: {', '.join(unsupported)}")
    kinds = {"full": "full", "axial_row": "row", "axial_col": "column", "conv_like": "convolution"}
    types = arguments.get("attn_types") or ("full",)
    types = [types] if isinstance(types, str) else list(types)
    side = vae["image_size"] // 2 ** vae["num_layers"]
    text_vocabulary = arguments["num_text_tokens"]
    config = {"model_type": "dalle", "text_vocab_size": text_vocabulary, "text_positions": arguments["text_seq_len"],
              "num_codes": vae["num_tokens"], "codes_per_side": side, "hidden_size": arguments["dim"],
              "num_hidden_layers": arguments["depth"], "num_attention_heads": arguments.get("heads", 8),
              "head_dim": arguments.get("dim_head", 64), "intermediate_size": 4 * arguments["dim"],
              "attention_types": [kinds[types[layer % len(types)]] for layer in range(arguments["depth"])]}
    write(folder, config, dalle_tensors(tensors, text_vocabulary + arguments["text_seq_len"]))


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "openai":
        encoder, decoder = (torch.load(path, map_location="cpu", weights_only=False) for path in sys.argv[2:4])
        write_openai_vae(encoder, decoder, sys.argv[4])
    elif len(sys.argv) == 4 and sys.argv[1] == "pytorch":
        saved = torch.load(sys.argv[2], map_location="cpu", weights_only=False)
        weights, vae = saved["weights"], saved.get("vae_params")
        if vae is None:
            sys.exit("the checkpoint's VAE is not DALLE-pytorch's DiscreteVAE")
        vae = {"image_size": 256, "num_tokens": 512, "codebook_dim": 512, "num_layers": 3, "num_resnet_blocks": 0, "hidden_dim": 64, **vae}
        own = {name: tensor for name, tensor in weights.items() if not name.startswith("vae.") and name != "logits_mask"}
        write_dalle(saved["hparams"], vae, own, sys.argv[3])
        write_discrete_vae(vae, {name[4:]: tensor for name, tensor in weights.items() if name.startswith("vae.")}, sys.argv[3] + "/vae")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
