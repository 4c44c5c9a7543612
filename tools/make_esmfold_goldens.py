#!/usr/bin/env python3
"""Makes tests/testdata/esmfold/: a tiny ESMFold saved by Hugging Face Transformers, and its outputs for a sequence.

    pip install torch==2.15.0 transformers==5.24.0
    tools/make_esmfold_goldens.py

config.json and model.safetensors are as save_pretrained writes them. golden.safetensors, computed in double precision
without dropout and stored in single precision:
    aatype, residue_index [residues]: residue types and positions, with a gap
    the outputs of the second pass with Transformers' names, without the batch axis: s_s, s_z, distogram_logits, ptm_logits,
    lm_logits, lddt_head (of the last block of the structure module, and only two residues because of its size), and for all
    blocks frames, sidechain_frames (rotation, translation: 12 numbers), unnormalized_angles, angles, positions
    s_s, s_z and positions of the first pass, with the suffix .first
    forward.NAME: other outputs of the second pass, with lddt_head for two residues; shape.NAME: the shape of every output
    loss: the sum of the second pass's outputs, with each number weighted by sin(index + 1); gradient.NAME of every trained
    parameter; the language model is not trained
"""

import os
import pathlib
import shutil

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import EsmConfig, EsmForProteinFolding  # noqa: E402

transformers.utils.logging.disable_progress_bar()
torch.set_num_threads(1)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "esmfold"
OUTPUTS = ["s_s", "s_z", "distogram_logits", "ptm_logits", "lm_logits", "lddt_head", "frames", "sidechain_frames",
           "unnormalized_angles", "angles", "positions"]

CONFIG = dict(
    vocab_size=33, mask_token_id=32, pad_token_id=1, hidden_size=12, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=10, position_embedding_type="rotary", token_dropout=True, layer_norm_eps=1e-5,
    is_folding_model=True,
    esmfold_config=dict(
        fp16_esm=False, embed_aa=True, lddt_head_hid_dim=2,
        trunk=dict(num_blocks=2, sequence_state_dim=10, pairwise_state_dim=6, sequence_head_width=5, pairwise_head_width=3,
                   position_bins=3, max_recycles=2,
                   structure_module=dict(sequence_dim=7, pairwise_dim=4, ipa_dim=3, resnet_dim=5, num_heads_ipa=2,
                                         num_qk_points=2, num_v_points=3, num_blocks=2))))


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention and different gates."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            norm = name.lower().replace("_", "").endswith("layernorm.weight") or name.endswith("norm.weight") or \
                (value.ndim == 1 and name.endswith("weight"))
            value.copy_(1 + 0.2 * noise if norm else noise * (0.3 if value.ndim == 1 else value.shape[1] ** -0.5))


def weigh(x):
    x = x.reshape(-1)
    return (x * torch.sin(torch.arange(x.numel(), dtype=x.dtype) + 1)).sum()


FURTHER = ["sidechain_frames", "states", "aatype", "atom14_atom_exists", "residx_atom14_to_atom37", "residx_atom37_to_atom14",
           "atom37_atom_exists", "residue_index", "lddt_head", "plddt", "ptm", "aligned_confidence_probs",
           "predicted_aligned_error", "max_predicted_aligned_error"]


def further_outputs(model, aatype, places, recycles):
    made = model(aatype[None], position_ids=places[None], num_recycles=recycles)
    assert set(made) == {*OUTPUTS, *FURTHER}
    found = {f"forward.{name}": made[name] for name in FURTHER}
    found["forward.lddt_head"] = made["lddt_head"][:, :, :2]
    return found | {f"shape.{name}": torch.tensor(value.shape, dtype=torch.int32) for name, value in made.items()}


def outputs_of(model, aatype, places, recycles):
    made = model(aatype[None], position_ids=places[None], num_recycles=recycles)
    # The axis of the structure module's blocks precedes the batch axis.
    several = {"lddt_head", "frames", "sidechain_frames", "unnormalized_angles", "angles", "positions"}
    found = {name: made[name][:, 0] if name in several else made[name][0] for name in OUTPUTS}
    found["lddt_head"] = found["lddt_head"][-1]
    frames = found["sidechain_frames"]
    found["sidechain_frames"] = torch.cat([frames[..., :3, :3].flatten(-2), frames[..., :3, 3]], -1)
    return found


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    model = EsmForProteinFolding._from_config(EsmConfig(**CONFIG), attn_implementation="eager").eval()
    initialize(model, 5)
    model.save_pretrained(OUT)
    (OUT / "generation_config.json").unlink(missing_ok=True)
    model.double()
    for module in model.modules():  # PyTorch must also train the padding embedding
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    aatype = torch.tensor([10, 0, 20, 7, 19, 14, 18, 4])
    places = torch.tensor([0, 1, 2, 3, 4, 9, 10, 11])
    tensors = {"aatype": aatype.int(), "residue_index": places.int()}
    first = outputs_of(model, aatype, places, 0)
    tensors |= {f"{name}.first": first[name] for name in ("s_s", "s_z", "positions")}
    outputs = outputs_of(model, aatype, places, 1)
    loss = sum(weigh(value) for value in outputs.values())
    tensors |= outputs | {"lddt_head": outputs["lddt_head"][:2]}
    tensors["loss"] = loss
    with torch.no_grad():
        tensors |= further_outputs(model, aatype, places, 1)
    named = {name: value for name, value in model.named_parameters() if value.requires_grad}
    gradients = torch.autograd.grad(loss, named.values(), allow_unused=True)
    for name, gradient in zip(named, gradients):
        assert gradient is not None, name
        tensors[f"gradient.{name}"] = gradient
    save_file({name: value.detach().to(torch.float32 if value.is_floating_point() else torch.int32).contiguous()
               for name, value in tensors.items()}, OUT / "golden.safetensors")
    for path in sorted(OUT.iterdir()):
        print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
