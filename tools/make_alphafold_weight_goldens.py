#!/usr/bin/env python3
"""Makes tests/testdata/alphafold/published/: the weights of a tiny AlphaFold 2 in DeepMind's format, and in OpenFold's
format after OpenFold has imported them.

    pip install torch==2.15.0 numpy safetensors ml_collections dm-tree scipy
    git clone https://github.com/aqlaboratory/openfold
    tools/make_alphafold_weight_goldens.py openfold

    params_model_3_ptm.npz    random arrays with DeepMind's names
    openfold/                 config.json and model.safetensors: OpenFold's model after it imported these arrays
    old_names.json            names in OpenFold's first versions that differ from the current names
    templates/                the same files for a model with templates, params_model_1_ptm.npz
"""

import importlib
import json
import pathlib
import sys

import numpy
import torch
from safetensors.torch import save_file

import make_alphafold_goldens as goldens

OUT = goldens.OUT / "published"

# The configuration key of each module's number of attention heads. The arrays of these modules have a separate axis for
# the heads.
HEADS = {"msa_row": "no_heads_msa", "msa_column": "no_heads_msa", "triangle": "no_heads_pair"}


def published_shape(key, param, sizes):
    """Returns the shape of an array of one block that OpenFold's importer converts to this parameter."""
    shape = list(param.shape)
    kind = param_kind(key)
    if kind in ("query_w", "key_w", "value_w", "gating_w"):
        if "global" in key and kind in ("key_w", "value_w"):
            return shape[::-1]
        return [shape[1], sizes["heads"], shape[0] // sizes["heads"]]
    if kind == "gating_b":
        return [sizes["heads"], shape[0] // sizes["heads"]]
    if kind == "output_w" and "outer_product_mean" in key:
        return [sizes["c_hidden_opm"], sizes["c_hidden_opm"], shape[0]]
    if kind == "output_w":
        return [sizes["heads"], shape[1] // sizes["heads"], shape[0]]
    return shape[::-1]


def param_kind(key):
    return key.split("//")[1]


def stack_of(key):
    """Returns the sizes of the blocks that an array belongs to."""
    for part in ("template_pair_stack", "template_embedding/attention"):
        if part in key:
            sizes = goldens.TEMPLATE_SIZES["template_pair_stack" if part[-1] == "k" else "template_pointwise_attention"]
            return {"no_heads_pair": sizes["no_heads"], "heads": sizes["no_heads"]}
    return goldens.SIZES["extra_msa_stack" if "extra_msa_stack" in key else "evoformer_stack"]


def make(folder, version, seed):
    config = goldens.openfold_config(version)
    model = importlib.import_module("openfold.model.model").AlphaFold(config)
    importing = importlib.import_module("openfold.utils.import_weights")
    flat = importing.process_translation_dict(importing.generate_translation_dict(model, version))
    generator = numpy.random.default_rng(seed)
    arrays = {}
    for key, param in flat.items():
        stack = stack_of(key)
        heads = next((stack[name] for part, name in HEADS.items() if part in key), stack.get("heads", 0))
        one = param.param[0] if param.stacked else param.param
        shape = published_shape(key, one, {"heads": heads, **stack})
        if param.stacked:
            shape = [len(param.param), *shape]
        arrays[key] = generator.normal(size=shape).astype("<f4")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"params_{version}.npz"
    numpy.savez_compressed(path, **arrays)
    importing.import_jax_weights_(model, path, version)
    state = {name: value.detach().contiguous() for name, value in model.state_dict().items()}
    (folder / "openfold").mkdir(exist_ok=True)
    save_file(state, folder / "openfold" / "model.safetensors")
    sizes = json.loads(json.dumps(goldens.SIZES))
    del sizes["structure_module"]["no_blocks"]  # not in DeepMind's files, because the blocks share parameters
    for stack in ("evoformer_stack", "extra_msa_stack"):
        del sizes[stack]["msa_dropout"], sizes[stack]["pair_dropout"]
    sizes |= {"model_type": "alphafold2", "max_extra_msa": 5120}
    if config.model.template.enabled:
        sizes["template"] = goldens.TEMPLATE_SIZES  # does not include the maximum number of templates, 4
    (folder / "openfold" / "config.json").write_text(json.dumps(sizes, indent=2) + "\n")

    old = {}
    for name in state:
        before = (name.replace(".pair_stack.", ".core.").replace("points.linear.", "points.")
                  .replace("template_embedder.", "").replace("template_single_embedder", "template_angle_embedder")
                  .replace(".msa_transition.", ".core.msa_transition.")
                  .replace(".outer_product_mean.", ".core.outer_product_mean."))
        if before != name:
            old[name] = before
    renamed = importing.convert_deprecated_v1_keys({old.get(name, name): name for name in state})
    assert all(key == name for key, name in renamed.items()) and len(renamed) == len(state)
    (folder / "old_names.json").write_text(json.dumps(old, indent=1) + "\n")


def main():
    goldens.load_openfold(sys.argv[1])
    torch.set_default_dtype(torch.float32)
    make(OUT, "model_3_ptm", 7)
    make(OUT / "templates", "model_1_ptm", 8)
    for made in sorted(OUT.rglob("*.*")):
        print(made, made.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
