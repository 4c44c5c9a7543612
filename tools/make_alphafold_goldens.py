#!/usr/bin/env python3
"""Makes tests/testdata/alphafold/: parts of a tiny AlphaFold 2 of OpenFold, their inputs, outputs and gradients.

    pip install torch==2.15.0 safetensors ml_collections dm-tree scipy
    git clone https://github.com/aqlaboratory/openfold
    tools/make_alphafold_goldens.py openfold

Computed in double precision without dropout and stored in single; parameters under OpenFold's names. `loss` is the sum of
the outputs, each number weighed by sin(its place + 1); gradient.NAME is a parameter's gradient and d_NAME an input's.
    evoformer.safetensors, extra_msa.safetensors
        inputs m [rows, residues, ...], z [residues, residues, ...], mask [rows, residues]: of absent cells nothing is
        compared; outputs m_out (0 where absent), z_out
    structure_module.safetensors
        inputs single [residues, ...], pair [residues, residues, ...], aatype [residues]; outputs single_out and of each
        block B frames.B [residues, 7], group_frames.B [residues, 8, 12] (rotation, translation), atoms.B [residues, 14, 3],
        unnormalized_angles.B and angles.B [residues, 7, 2]
"""

import importlib
import pathlib
import sys
import types

import torch
from safetensors.torch import save_file

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "alphafold"


def load_openfold(folder):
    """OpenFold without what it imports for GPUs, alignments and relaxation."""
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made
        return made

    for name in ["openfold", "openfold.data", "openfold.model", "openfold.np", "openfold.utils", "openfold.utils.kernel"]:
        module(name).__path__ = [str(pathlib.Path(folder, *name.split(".")))]

    def attention_core(query, key, value, *biases):
        scores = query @ key.transpose(-1, -2)
        for bias in biases:
            scores = scores + (0 if bias is None else bias)
        return scores.softmax(-1) @ value

    module("openfold.np.protein")
    module("openfold.utils.kernel.attention_core", attention_core=attention_core)
    module("attn_core_inplace_cuda", forward_=lambda scores, *_: scores.copy_(scores.softmax(-1)))


def initialise(model, seed):
    """Large enough that attention is sharp, gates differ and every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if "layer_norm" in name and name.endswith("weight"):
                value.copy_(1 + 0.2 * noise)
            else:
                value.copy_(noise * (0.3 if value.ndim == 1 else value.shape[1] ** -0.5))


def weigh(x):
    x = x.reshape(-1)
    return (x * torch.sin(torch.arange(x.numel(), dtype=x.dtype) + 1)).sum()


def save(name, model, inputs, outputs, others=()):
    """`inputs` have gradients; the loss is that of the outputs."""
    loss = sum(weigh(x) for x in outputs.values())
    named = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss, [*inputs.values(), *named.values()], allow_unused=True)
    assert all(gradient is not None for gradient in gradients)
    tensors = dict(others) | inputs | outputs | {"loss": loss}
    tensors |= {f"d_{key}": gradient for key, gradient in zip(inputs, gradients)}
    tensors |= {f"parameter.{key}": value for key, value in named.items()}
    tensors |= {f"gradient.{key}": gradient for key, gradient in zip(named, gradients[len(inputs):])}
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{name}.safetensors"
    save_file({key: value.detach().to(torch.float32 if value.is_floating_point() else torch.int32).contiguous()
               for key, value in tensors.items()}, path)
    print(path, path.stat().st_size, "bytes")


BLOCK = dict(c_m=8, c_z=6, c_hidden_msa_att=3, c_hidden_opm=3, c_hidden_mul=4, c_hidden_pair_att=3, no_heads_msa=2,
             no_heads_pair=2, transition_n=2, msa_dropout=0.15, pair_dropout=0.25, opm_first=False,
             fuse_projection_weights=False, inf=1e9, eps=1e-10)


def make_blocks(name, blocks, seed):
    rows, residues = 5, 6
    model = torch.nn.Module()
    model.blocks = torch.nn.ModuleList(blocks)
    initialise(model, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    inputs = {"m": torch.randn(rows, residues, 8, generator=generator).requires_grad_(),
              "z": torch.randn(residues, residues, 6, generator=generator).requires_grad_()}
    mask = (torch.rand(rows, residues, generator=generator) > 0.2).double()
    mask[0] = 1
    mask[3] = 0
    m, z = inputs["m"], inputs["z"]
    for block in model.blocks:
        block.eval()
        m, z = block(m, z, msa_mask=mask, pair_mask=torch.ones(residues, residues), _mask_trans=False)
    save(name, model, inputs, {"m_out": m * mask[..., None], "z_out": z}, {"mask": mask})


def make_structure_module():
    residues = 21
    module = importlib.import_module("openfold.model.structure_module")
    model = module.StructureModule(c_s=10, c_z=6, c_ipa=3, c_resnet=5, no_heads_ipa=2, no_qk_points=2, no_v_points=3,
                                   dropout_rate=0.1, no_blocks=2, no_transition_layers=1, no_resnet_blocks=2, no_angles=7,
                                   trans_scale_factor=10, epsilon=1e-8, inf=1e5).eval()
    initialise(model, 3)
    generator = torch.Generator().manual_seed(4)
    inputs = {"single": torch.randn(residues, 10, generator=generator).requires_grad_(),
              "pair": torch.randn(residues, residues, 6, generator=generator).requires_grad_()}
    aatype = torch.randperm(residues, generator=generator)
    made = model(inputs, aatype)
    outputs = {"single_out": made["single"]}
    for block in range(2):
        frames = made["sidechain_frames"][block]
        outputs |= {f"frames.{block}": made["frames"][block],
                    f"group_frames.{block}": torch.cat([frames[..., :3, :3].flatten(-2), frames[..., :3, 3]], -1),
                    f"atoms.{block}": made["positions"][block],
                    f"unnormalized_angles.{block}": made["unnormalized_angles"][block],
                    f"angles.{block}": made["angles"][block]}
    save("structure_module", model, inputs, outputs, {"aatype": aatype})


def main():
    load_openfold(sys.argv[1])
    evoformer = importlib.import_module("openfold.model.evoformer")
    make_blocks("evoformer", [evoformer.EvoformerBlock(no_column_attention=False, **BLOCK) for _ in range(2)], 1)
    make_blocks("extra_msa", [evoformer.ExtraMSABlock(ckpt=False, **BLOCK) for _ in range(2)], 2)
    make_structure_module()


if __name__ == "__main__":
    main()
