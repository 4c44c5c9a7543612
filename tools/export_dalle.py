#!/usr/bin/env python3
"""Converts published DALL-E models to folders that headlight can load.

    pip install torch==2.15.0 safetensors==0.8.0
    tools/export_dalle.py openai encoder.pkl decoder.pkl FOLDER    # openai/DALL-E's package must be importable
    tools/export_dalle.py pytorch dalle.pt FOLDER                  # a checkpoint of DALLE-pytorch's train_dalle.py
    tools/export_dalle.py min-dalle pretrained/dalle_bart_mini pretrained/vqgan FOLDER    # min-dalle's, or dalle_bart_mega

The first command writes a folder of model type `openai_vae`. It has the tensors of both files with their own names
(`blocks.input.w`) and the prefixes `encoder.` and `decoder.`. The second command writes a folder of model type `dalle`.
FOLDER/vae has its DiscreteVAE (`discrete_vae`), which the checkpoint must contain. A tokenizer.json with the ids that
were used in training must be added to FOLDER. The third command writes a folder of model type `dalle_mini` with its
tokenizer, and a model of type `vqgan` in FOLDER/vae. min-dalle replaces emoji by their names before tokenization. The
tokenizer removes emoji and all other characters that are not ASCII.
"""

import json
import pathlib
import re
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


# The arguments of DALLE-pytorch's DiscreteVAE that affect its outputs.
VAE_KEYS = ("image_size", "num_tokens", "codebook_dim", "num_layers", "num_resnet_blocks", "hidden_dim")


def write_discrete_vae(arguments, tensors, folder):
    write(folder, {"model_type": "discrete_vae", **{key: arguments[key] for key in VAE_KEYS}}, tensors)


def dalle_name(name):
    """Returns the names that a parameter of DALLE-pytorch's DALLE has in the folder. The head has two names, for texts
    and codes. Other parameters have one name."""
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
    """Renames tensors or gradients of DALLE to the names in the folder. `text_ids` is the number of text ids, including
    padding ids."""
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
    """Writes a DALLE model to the folder. `arguments` are the arguments of DALLE. `vae` has image_size, num_layers and
    num_tokens."""
    unsupported = [key for key, only in (("rotary_emb", False), ("shift_tokens", False), ("reversible", False), ("stable", False),
                                         ("sandwich_norm", False), ("share_input_output_emb", False), ("shared_attn_ids", None),
                                         ("shared_ff_ids", None)) if arguments.get(key, only) != only]
    for key in ("rotary_emb", "shift_tokens"):  # enabled by default in DALLE
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


def pretokenized(vocabulary, merges):
    """Returns the tokenizer.json of min-dalle's tokenizer: byte-pair encoding of lower-case ASCII words, each with a
    preceding space."""
    return {"version": "1.0",
            "added_tokens": [{"id": vocabulary[token], "content": token, "single_word": False, "lstrip": False, "rstrip": False,
                              "normalized": False, "special": True} for token in ("<s>", "<pad>", "</s>", "<unk>")],
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"},
                                                               {"type": "Replace", "pattern": {"Regex": "[^\\x00-\\x7f]"}, "content": ""}]},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
                                                                    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}]},
            "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False},
            "model": {"type": "BPE", "unk_token": "<unk>", "vocab": vocabulary, "merges": [pair.split() for pair in merges]}}


def write_dalle_mini(encoder, decoder, vocabulary, merges, folder, head_dim=64, codes=1 << 14, positions=256):
    """Writes a DALL-E mini model from the state dicts of min-dalle's encoder and decoder. Omits the rows of codes that
    are never generated."""
    text_ids, width = encoder["embed_tokens.weight"].shape

    def layers(tensors):
        return 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers."))

    tensors = {**{f"encoder.{name}": tensor for name, tensor in encoder.items()},
               **{f"decoder.{name}": tensor for name, tensor in decoder.items()}}
    for name in ("decoder.embed_tokens.weight", "decoder.lm_head.weight"):
        tensors[name] = tensors[name][:codes]
    # Removes buffers, such as position indices.
    tensors = {name: tensor for name, tensor in tensors.items() if tensor.is_floating_point()}
    config = {"model_type": "dalle_mini", "d_model": width, "encoder_layers": layers(encoder), "decoder_layers": layers(decoder),
              "encoder_attention_heads": width // head_dim, "decoder_attention_heads": width // head_dim,
              "encoder_ffn_dim": len(encoder["layers.0.glu.fc0.weight"]), "decoder_ffn_dim": len(decoder["layers.0.glu.fc0.weight"]),
              "text_vocab_size": text_ids, "text_positions": len(encoder["embed_positions.weight"]),
              **{f"text_{name}_token_id": vocabulary[token] for name, token in (("bos", "<s>"), ("eos", "</s>"), ("pad", "<pad>"))}, "num_codes": codes,
              "codes_per_side": round(positions**0.5), "decoder_start_token_id": codes - 1}
    write(folder, config, tensors)
    (pathlib.Path(folder) / "tokenizer.json").write_text(json.dumps(pretokenized(vocabulary, merges), ensure_ascii=False, indent=1) + "\n")


def write_vqgan(tensors, folder, resolution=256, groups=32):
    """Writes a VQGAN from the state dict of min-dalle's detokenizer. The range of its pixels is changed from [0, 1] to
    [-1, 1], as in VQGAN."""
    tensors = {name: tensor[:, :, 0, 0] if re.search(r"attn.*\.(q|k|v|proj_out)\.weight", name) else tensor for name, tensor in tensors.items()}
    tensors["decoder.conv_out.weight"] = 2 * tensors["decoder.conv_out.weight"]
    tensors["decoder.conv_out.bias"] = 2 * tensors["decoder.conv_out.bias"] - 1
    codes, width = tensors["embedding.weight"].shape
    stages = 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("decoder.up."))
    channels = [len(tensors[f"decoder.up.{stage}.block.0.conv1.weight"]) for stage in range(stages)]
    blocks = max(int(name.split(".")[4]) for name in tensors if name.startswith("decoder.up.0.block."))
    config = {"model_type": "vqgan", "resolution": resolution, "n_embed": codes, "embed_dim": width,
              "z_channels": len(tensors["post_quant_conv.weight"]), "ch": channels[0], "ch_mult": [one // channels[0] for one in channels],
              "num_res_blocks": blocks, "norm_num_groups": groups,
              "attn_resolutions": [resolution >> stage for stage in range(stages) if f"decoder.up.{stage}.attn.0.q.weight" in tensors]}
    write(folder, config, tensors)


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
    elif len(sys.argv) == 5 and sys.argv[1] == "min-dalle":
        model, vqgan = (pathlib.Path(folder) for folder in sys.argv[2:4])
        encoder, decoder, detokenizer = (torch.load(path, map_location="cpu", weights_only=True)
                                         for path in (model / "encoder.pt", model / "decoder.pt", vqgan / "detoker.pt"))
        merges = (model / "merges.txt").read_text(encoding="utf-8").split("\n")[1:-1]
        write_dalle_mini(encoder, decoder, json.loads((model / "vocab.json").read_text(encoding="utf-8")), merges, sys.argv[4])
        write_vqgan(detokenizer, sys.argv[4] + "/vae")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
