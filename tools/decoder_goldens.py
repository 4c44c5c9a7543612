"""Functions for the scripts that make golden files of decoder-only models."""

import json

import torch
from safetensors import safe_open
from safetensors.torch import save_file


def weigh(x):
    """Returns a weighted sum of an output, so that every element has a gradient."""
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1).reshape(x.shape)).sum()


def gradients(model):
    """Returns the gradients by the parameter names in the model's files. The model stacks the experts, but the files
    store each expert separately."""
    mixtral = model.config.model_type == "mixtral"
    gate, up, down = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
    named = {}
    for name, value in model.named_parameters(remove_duplicate=False):
        if mixtral:
            name = name.replace(".mlp.", ".block_sparse_moe.")
        before, stacked, which = name.rpartition(".experts.")
        if value.grad is None:
            continue
        if not stacked:
            named[name] = value.grad
            continue
        for expert, grad in enumerate(value.grad):
            parts = zip((gate, up), grad.chunk(2)) if which == "gate_up_proj" else [(down, grad)]
            named.update({f"{before}.experts.{expert}.{part}.weight": rows for part, rows in parts})
    return named


def save_golden(model, folder, tensors, attentions):
    """Writes golden.safetensors with the tensors, attentions.L, and gradient.NAME of every parameter in the model's
    files that has a gradient."""
    tensors = dict(tensors)
    for layer, weights in enumerate(attentions):
        tensors[f"attentions.{layer}"] = weights
    named = gradients(model)
    if "lm_head.weight" in named:
        named["embed_out.weight"] = named["lm_head.weight"]  # GPT-NeoX's files have this name
    for path in folder.glob("model*.safetensors"):
        with safe_open(path, "pt") as file:
            for name in file.keys():
                if name in named:
                    tensors[f"gradient.{name}"] = named[name]
    tensors = {name: value.detach().contiguous() for name, value in tensors.items()}
    for name, value in tensors.items():
        tensors[name] = value.int() if value.dtype == torch.int64 else value.float() if value.numel() > 1 else value
    save_file(tensors, folder / "golden.safetensors")


def save_generation(model, folder, prompts, all_options):
    """Writes generation.json with the options of `generate`, and the tokens that it adds to each prompt. With beams,
    these are the tokens of the two best beams."""
    runs = []
    for options in all_options:
        run = {"options": options, "prompts": prompts, "texts": [], "scores": []}
        several = 2 if options["num_beams"] > 1 else 1
        for prompt in prompts:
            found = model.generate(torch.tensor([prompt]), **options, do_sample=False, max_new_tokens=8, pad_token_id=0,
                                   num_return_sequences=several, return_dict_in_generate=True, output_scores=True)
            texts = []
            for row in found.sequences:
                new = row[len(prompt):].tolist()
                if model.config.eos_token_id in new:
                    new = new[:new.index(model.config.eos_token_id) + 1]  # the rest is padding
                texts.append(new)
            run["texts"].append(texts)
            if several > 1:
                run["scores"].append(found.sequences_scores.tolist())
        runs.append(run)
    (folder / "generation.json").write_text(json.dumps(runs) + "\n")
