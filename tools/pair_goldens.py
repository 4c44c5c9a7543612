"""Functions for the scripts that make golden files of models with text and image inputs."""

import types

import torch
from safetensors.torch import save_file

torch.set_num_threads(1)

# The numbers of tokens and regions of two pairs.
PAIRS = types.SimpleNamespace(tokens=(7, 4), regions=(3, 5))


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters. Converts
    the model to double precision."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if value.ndim == 1 and name.endswith("weight"):
                value.copy_(1 + 0.2 * noise)
            else:
                value.copy_((0.2 if value.ndim == 1 else 0.45) * noise)
    model.double()


def pad_text(generator, vocabulary, types_of_text):
    """Returns two padded texts of different lengths, without the ids 0 and 1. Transformers treats these ids as padding
    and does not train their embeddings."""
    ids = torch.randint(2, vocabulary, (2, max(PAIRS.tokens)), generator=generator)
    segments = torch.randint(0, types_of_text, ids.shape, generator=generator)
    mask = torch.zeros_like(ids)
    for i, length in enumerate(PAIRS.tokens):
        mask[i, :length] = 1
    return dict(input_ids=ids * mask, attention_mask=mask, token_type_ids=segments * mask)


def weigh(x):
    x = x.reshape(-1)
    return (x * torch.sin(torch.arange(x.numel(), dtype=torch.float64) + 1)).sum()


def save(folder, model, tensors, unused=()):
    """Saves the model's folder, the tensors, and the gradient of each parameter. Omits parameters with a name in
    `unused` in their names."""
    for key, value in model.named_parameters():
        if value.grad is not None:
            tensors[f"gradient.{key}"] = value.grad
        else:
            assert any(part in key for part in unused), key
    model.float().save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    save_file({key: value.detach().contiguous().float() if value.is_floating_point() else value.to(torch.int32).contiguous()
               for key, value in tensors.items()}, folder / "golden.safetensors")
    print(folder.name, sum(file.stat().st_size for file in folder.iterdir()), "bytes")
