#!/usr/bin/env python3
"""Makes tests/testdata/dalle/: tiny DALL-E models with their outputs, from the original programs.

    pip install torch==2.15.0 safetensors==0.8.0 einops attrs axial_positional_embedding==0.3.12 rotary-embedding-torch
    tools/make_dalle_goldens.py DALL-E DALLE-pytorch    # checkouts of openai/DALL-E and lucidrains/DALLE-pytorch

One folder per model, as tools/export_dalle.py writes it, and golden.safetensors, computed in double precision and
stored in single precision. For the VAEs:
    pixel_values   [images, height, width, 3], from 0 to 1
    logits         [cells, codes], codes [cells], weights [cells, codes] of a Gumbel-softmax
    decoded        [pixels, 3 or 6], decoded from the weights; pixels [pixels, 3], decoded from the codes
    divergence, reconstruction, loss, gradient.NAME
For the decoders of texts and codes:
    text           [texts, positions], 0 at padding; codes [texts, cells]
    logits.text    [texts * positions, text ids], logits.codes [texts * cells, codes]
    attentions.L   [texts, heads, query, key]
    loss, gradient.NAME
"""

import pathlib
import sys
import types

import attr
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import export_dalle  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "dalle"


def import_originals(openai, pytorch):
    sys.path.insert(0, openai)
    # Bypass the package's __init__ files, which import a downloader and the VQGAN code.
    package = types.ModuleType("dalle_pytorch")
    package.__path__ = [pytorch + "/dalle_pytorch"]
    sys.modules["dalle_pytorch"] = package
    vae = types.ModuleType("dalle_pytorch.vae")
    vae.OpenAIDiscreteVAE = vae.VQGanVAE = type("None_", (), {})
    sys.modules["dalle_pytorch.vae"] = vae
    sys.modules["dalle_pytorch.distributed_utils"] = package.distributed_utils = types.SimpleNamespace(is_distributed=False)
    dall_e = types.ModuleType("dall_e")
    dall_e.__path__ = [openai + "/dall_e"]
    sys.modules["dall_e"] = dall_e
    attr.validators.set_disabled(True)  # the validators reject tiny models
    # The original code changes a view in place. Newer PyTorch versions do not allow this.
    source = pathlib.Path(pytorch, "dalle_pytorch", "attention.py").read_text().replace("q *= self.scale", "q = q * self.scale")
    attention = sys.modules["dalle_pytorch.attention"] = types.ModuleType("dalle_pytorch.attention")
    exec(compile(source, "attention.py", "exec"), attention.__dict__)


def initialize(model, seed, size=0.45):
    """Sets random parameters that are large enough for sharp attention. Every bias, gain and scale matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if name.endswith("scale") or ("norm" in name or "to_logits.0" in name) and name.endswith("weight"):
                value.copy_(1 + 0.2 * noise)
            elif name.endswith(("bias", ".b")):
                value.copy_(0.2 * noise)
            else:
                fan = value[0].numel() if value.dim() == 4 else 1 / size**2
                value.copy_(noise * fan**-0.5)


def rows(maps):
    """Reshapes [maps, channels, height, width] to [cells, channels]."""
    return maps.permute(0, 2, 3, 1).reshape(-1, maps.shape[1])


def save(folder, tensors):
    save_file({name: (tensor.detach().float() if tensor.is_floating_point() else tensor.int()).contiguous().clone()
               for name, tensor in tensors.items()}, folder / "golden.safetensors")


def gumbel(shape, seed):
    generator = torch.Generator().manual_seed(seed)
    return -torch.log(-torch.log(torch.rand(shape, generator=generator).double().clamp(1e-6, 1 - 1e-6)))


def images(size, seed):
    return torch.rand(2, 3, *size, generator=torch.Generator().manual_seed(seed)).double()


def openai_vae(name, hidden, blocks, size, seed):
    from dall_e.decoder import Decoder
    from dall_e.encoder import Encoder
    from dall_e.utils import map_pixels, unmap_pixels
    encoder = Encoder(n_hid=hidden, n_blk_per_group=blocks, vocab_size=11)
    decoder = Decoder(n_hid=hidden, n_init=5, n_blk_per_group=blocks, vocab_size=11)
    initialize(encoder, seed)
    initialize(decoder, seed + 1)
    # The model supports only single precision, so the golden file is also computed in single precision.
    export_dalle.write_openai_vae(encoder, decoder, OUT / name, image_size=max(size))
    pixels = images(size, seed + 2).float()
    x = map_pixels(pixels)
    logits = encoder(x)
    weights = F.softmax((logits + gumbel(logits.shape, seed + 3).float()) / 0.7, dim=1)
    decoded = decoder(weights)
    codes = logits.argmax(1)
    with torch.no_grad():
        image = unmap_pixels(torch.sigmoid(decoder(F.one_hot(codes, 11).permute(0, 3, 1, 2).float())[:, :3]))
    mu, log_b = decoded[:, :3], decoded[:, 3:]
    reconstruction = (torch.abs(torch.logit(x) - mu) / log_b.exp() + log_b + torch.log(2 * x * (1 - x))).mean()
    log_q = F.log_softmax(rows(logits), -1)
    divergence = (log_q.exp() * (log_q + torch.tensor(11.0).log())).sum()
    loss = reconstruction + 0.01 * divergence
    loss.backward()
    gradients = {f"gradient.{half}.{key}": value.grad for half, model in (("encoder", encoder), ("decoder", decoder))
                 for key, value in model.named_parameters()}
    save(OUT / name, {"pixel_values": pixels.permute(0, 2, 3, 1), "logits": rows(logits), "codes": codes.reshape(-1), "weights": rows(weights),
                      "decoded": rows(decoded), "pixels": rows(image), "divergence": divergence[None], "reconstruction": reconstruction[None],
                      "loss": loss[None], **gradients})


def discrete_vae(name, size, seed, **arguments):
    from dalle_pytorch.dalle_pytorch import DiscreteVAE
    arguments = {"image_size": size, **arguments}
    vae = DiscreteVAE(**arguments, kl_div_loss_weight=0.01)
    initialize(vae, seed)
    export_dalle.write_discrete_vae({"num_resnet_blocks": 0, **arguments}, vae.state_dict(), OUT / name)
    vae.double()
    pixels = images((size, size), seed + 2).float().double()
    logits = vae(pixels, return_logits=True)
    noise = gumbel(logits.shape, seed + 3)
    drawn = {}
    original = F.gumbel_softmax

    def with_noise(scores, tau, dim, hard):
        drawn["weights"] = F.softmax((scores + noise) / tau, dim=dim)
        return drawn["weights"]

    F.gumbel_softmax = with_noise
    loss, decoded = vae(pixels, return_loss=True, return_recons=True, temp=0.7)
    F.gumbel_softmax = original
    loss.backward()
    reconstruction = F.mse_loss(vae.norm(pixels), decoded)
    codes = vae.get_codebook_indices(pixels)
    with torch.no_grad():
        image = (vae.decode(codes) * 0.5 + 0.5).clamp(0, 1)
    save(OUT / name, {"pixel_values": pixels.permute(0, 2, 3, 1), "logits": rows(logits), "codes": codes.reshape(-1), "weights": rows(drawn["weights"]),
                      "decoded": rows(decoded), "pixels": rows(image), "divergence": (loss - reconstruction)[None] / 0.01,
                      "reconstruction": reconstruction[None], "loss": loss[None],
                      **{f"gradient.{key}": value.grad for key, value in vae.named_parameters()}})


def record_attentions(transformer, side, seen):
    """Wraps every attention module so that it stores its weights in seen[layer]. Sparse attention stores separate
    weights for each part of an image."""
    layers = [layer[0] for layer in transformer.layers.layers]
    for index, layer in enumerate(layers):
        module = layer.fn.fn.fn

        def forward(x, *rest, index=index, module=module, original=module.forward, **options):
            parts = []
            softmax = torch.softmax
            torch.softmax = lambda dots, dim: parts.append(softmax(dots, dim=dim)) or parts[-1]
            try:
                result = original(x, *rest, **options)
            finally:
                torch.softmax = softmax
            seen[index] = together(type(module).__name__, getattr(module, "axis", None), parts, x.shape[0], module.heads, x.shape[1], side)
            return result

        module.forward = forward


def together(kind, axis, parts, batch, heads, length, side):
    """Returns the attention weights [batch, heads, query, key], assembled from the parts of the original code."""
    if kind == "Attention":
        return parts[0]
    text, image = parts
    words = text.shape[-1]
    full = torch.zeros(batch * heads, words + side**2, words + side**2, dtype=text.dtype)
    full[:, :words, :words] = text
    for row in range(side):
        for column in range(side):
            query = row * side + column
            if kind == "SparseAxialCausalAttention":
                line, place = (row, column) if axis == 0 else (column, row)
                weights = image[:, line, place]
                cells = [row * side + other if axis == 0 else other * side + column for other in range(side)]
            else:
                weights = image[:, query]
                size = round((weights.shape[-1] - words) ** 0.5)
                cells = [(row - size + 1 + i) * side + column - size + 1 + j if row - size + 1 + i >= 0 and column - size + 1 + j >= 0 else None
                         for i in range(size) for j in range(size)]
            full[:, words + query, :words] = weights[:, :words]
            for place, cell in enumerate(cells):
                if cell is not None:
                    full[:, words + query, words + cell] = weights[:, words + place]
    return full.reshape(batch, heads, *full.shape[1:])[:, :, :length, :length]


def dalle(name, seed, side, attn_types, **arguments):
    from dalle_pytorch.dalle_pytorch import DALLE, DiscreteVAE
    vae_arguments = {"image_size": 4 * side, "num_tokens": 13, "codebook_dim": 4, "num_layers": 2, "hidden_dim": 4, "num_resnet_blocks": 0}
    vae = DiscreteVAE(**vae_arguments)
    arguments = {"rotary_emb": False, "shift_tokens": False, "attn_types": attn_types, **arguments}
    model = DALLE(vae=vae, **arguments)
    initialize(model, seed)
    own = {key: value for key, value in model.named_parameters() if not key.startswith("vae.")}
    export_dalle.write_dalle(arguments, vae_arguments, own, OUT / name)
    export_dalle.write_discrete_vae(vae_arguments, vae.state_dict(), OUT / name / "vae")
    model.double()
    generator = torch.Generator().manual_seed(seed + 1)
    positions = arguments["text_seq_len"]
    text = torch.randint(1, arguments["num_text_tokens"], (2, positions), generator=generator)
    text[0, positions - 2:] = 0
    codes = torch.randint(0, 13, (2, side**2), generator=generator)
    seen = {}
    record_attentions(model.transformer, side, seen)
    logits = model(text.clone(), codes)
    loss = model(text.clone(), codes, return_loss=True)
    loss.backward()
    text_ids = arguments["num_text_tokens"] + positions
    gradients = {key: value.grad for key, value in own.items()}
    save(OUT / name, {"text": text, "codes": codes, "logits.text": logits[:, :positions, :text_ids].reshape(-1, text_ids),
                      "logits.codes": logits[:, positions:, text_ids:].reshape(-1, 13), "loss": loss[None],
                      **{f"attentions.{layer}": weights for layer, weights in seen.items()},
                      **{f"gradient.{key}": value for key, value in export_dalle.dalle_tensors(gradients, text_ids).items()}})


def main():
    import_originals(*sys.argv[1:3])
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    openai_vae("openai_vae", hidden=4, blocks=2, size=(16, 24), seed=1)
    openai_vae("openai_vae_short", hidden=4, blocks=1, size=(8, 8), seed=5)
    discrete_vae("discrete_vae", 8, 11, num_tokens=9, codebook_dim=5, num_layers=1, hidden_dim=6)
    discrete_vae("discrete_vae_blocks", 16, 21, num_tokens=10, codebook_dim=7, num_layers=2, hidden_dim=5, num_resnet_blocks=2)
    dalle("dalle", 31, 4, ("full", "axial_row", "axial_col", "conv_like"), dim=12, depth=4, heads=2, dim_head=5, num_text_tokens=11, text_seq_len=5)
    dalle("dalle_wide", 41, 8, ("axial_row", "axial_col", "conv_like"), dim=8, depth=3, heads=1, dim_head=8, num_text_tokens=7, text_seq_len=4)


if __name__ == "__main__":
    main()
