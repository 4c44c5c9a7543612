#!/usr/bin/env python3
"""Makes tests/testdata/dalle/dalle_mini/: a tiny DALL-E mini, its VQGAN in vae/, and their outputs.

    pip install torch==2.15.0 safetensors==0.8.0 tokenizers==0.23.3
    tools/make_dalle_mini_goldens.py min-dalle-0.4.11    # its source distribution

Folders as tools/export_dalle.py writes them, each with golden.safetensors, computed in double precision and stored in
single precision:
    text           [texts, positions] without start and end, padded; codes [texts, cells]
    states         [texts, positions, model] of the encoder, with start and end
    logits         [texts * cells, codes]
    {encoder,decoder,cross}_attentions.L    [texts, heads, query, key]
    loss           the mean cross-entropy of the codes; gradient.NAME
and for the VQGAN:
    codes [cells], weights [cells, codes], decoded [pixels, 3] from the weights, pixels [pixels, 3] in [0, 1] from the codes
    attentions.L   [cells, cells]
    loss           the sum of squares of the decoded values; gradient.NAME
texts.json has texts with the ids that min-dalle's tokenizer gives them.
"""

import json
import pathlib
import re
import sys
import types

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import export_dalle  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "testdata" / "dalle" / "dalle_mini"
CODES, SIDE, POSITIONS, HEAD_DIM = 13, 4, 9, 6
TEXTS = ["a dog runs over the green grass", "Two Children  play, outside!", "ein Café am See", "the dog (small)", "x"]


def tiny_vqgan(root):
    """Returns min-dalle's detokenizer with gradients. All widths are divided by 32, except the width of pixels."""
    source = pathlib.Path(root, "min_dalle", "models", "vqgan_detokenizer.py").read_text()
    source = re.sub(r"Block\((\d), (\d)", lambda sizes: f"Block({int(sizes[1]) - 5}, {int(sizes[2]) - 5}", source)
    for before, after in (("2 ** 14, 2 ** 8", f"{CODES}, 2 ** 3"), ("2 ** 9", "2 ** 4"), ("2 ** 8", "2 ** 3"), ("2 ** 7", "2 ** 2"), ("2 ** 5", "2 ** 2"),
                          ("x.to(torch.float32)", "x"), ("h *= torch.sigmoid(h)", "h = h * torch.sigmoid(h)"), ("z *= torch.sigmoid(z)", "z = z * torch.sigmoid(z)")):
        assert before in source, before
        source = source.replace(before, after)
    module = types.ModuleType("vqgan_detokenizer")
    exec(compile(source, "vqgan_detokenizer.py", "exec"), module.__dict__)
    return module.VQGanDetokenizer()


def initialize(model, seed):
    """Sets random parameters that are large enough for sharp attention. Every bias and gain matters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            noise = torch.randn(value.shape, generator=generator)
            if value.dim() == 1:
                value.copy_(noise * 0.2 + (1 if name.endswith("weight") else 0))
            else:
                value.copy_(noise * (1.5 if "embed" in name else 1.5 * value[0].numel()**-0.5))


def save(folder, tensors):
    save_file({name: (tensor.detach().float() if tensor.is_floating_point() else tensor.int()).contiguous().clone()
               for name, tensor in tensors.items()}, folder / "golden.safetensors")


def recording(seen):
    softmax = torch.softmax
    torch.softmax = lambda *arguments, **options: seen.append(softmax(*arguments, **options)) or seen[-1]
    return softmax


def tokenizer(root):
    """Returns a vocabulary, merges, and the ids of min-dalle's tokenizer with this vocabulary and these merges."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)])
    printable = "".join(map(chr, range(33, 127)))
    trained.train_from_iterator([text.lower().encode("ascii", "ignore").decode() for text in TEXTS] * 3 + [printable],
                                trainers.BpeTrainer(vocab_size=130, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False))
    model = json.loads(trained.to_str())["model"]
    merges = [" ".join(pair) for pair in model["merges"]]
    sys.modules["emoji"] = types.SimpleNamespace(demojize=lambda text, delimiters: text)
    from min_dalle.text_tokenizer import TextTokenizer
    original = TextTokenizer(model["vocab"], merges)
    return model["vocab"], merges, [{"text": text, "ids": original.tokenize(text)} for text in TEXTS]


def dalle_mini(root, vocabulary, merges, seed):
    from min_dalle.models import dalle_bart_decoder, dalle_bart_encoder
    dalle_bart_decoder.IMAGE_TOKEN_COUNT = SIDE**2
    sizes = {"attention_head_count": 2, "embed_count": 2 * HEAD_DIM, "glu_embed_count": 10, "device": "cpu"}
    encoder = dalle_bart_encoder.DalleBartEncoder(layer_count=2, text_vocab_count=len(vocabulary), text_token_count=POSITIONS, **sizes)
    decoder = dalle_bart_decoder.DalleBartDecoder(layer_count=3, image_vocab_count=CODES, **sizes)
    initialize(encoder, seed)
    initialize(decoder, seed + 1)
    export_dalle.write_dalle_mini(encoder.state_dict(), decoder.state_dict(), vocabulary, merges, OUT, HEAD_DIM, CODES, SIDE**2)
    encoder.double()
    decoder.double()
    generator = torch.Generator().manual_seed(seed + 2)
    lengths = (7, 0, 3, 5)  # the second text is empty, as in guidance
    text = torch.ones(4, POSITIONS, dtype=torch.long)
    for row, length in enumerate(lengths):
        text[row, : length + 2] = torch.tensor([0, *torch.randint(4, len(vocabulary), (length,), generator=generator).tolist(), 2])
    codes = torch.randint(0, CODES, (2, SIDE**2), generator=generator)
    begun = torch.cat([torch.full((2, 1), CODES - 1), codes[:, :-1]], 1)
    encoder.pose_tokens = torch.stack([torch.arange(POSITIONS)] * 4)
    seen = []
    softmax = recording(seen)
    states = encoder(text)
    logits, _ = decoder(text.not_equal(1)[:, None, None, :], states, [None] * 3, begun, torch.arange(SIDE**2))
    torch.softmax = softmax
    codes = codes.repeat(2, 1)
    logits = logits[:, :, :CODES].reshape(-1, CODES)
    loss = F.cross_entropy(logits, codes.reshape(-1))
    loss.backward()
    attentions = {**{f"encoder_attentions.{layer}": seen[layer] for layer in range(2)},
                  **{f"{kind}_attentions.{layer}": seen[2 + 2 * layer + place] for layer in range(3) for place, kind in enumerate(("decoder", "cross"))}}
    gradients = {f"gradient.{half}.{name}": value.grad for half, model in (("encoder", encoder), ("decoder", decoder)) for name, value in model.named_parameters()}
    for name in ("gradient.decoder.embed_tokens.weight", "gradient.decoder.lm_head.weight"):
        gradients[name] = gradients[name][:CODES]
    plain = torch.ones(4, POSITIONS - 2, dtype=torch.long)
    for row, length in enumerate(lengths):
        plain[row, :length] = text[row, 1 : 1 + length]
    save(OUT, {"text": plain, "codes": codes, "states": states, "logits": logits, "loss": loss[None], **attentions, **gradients})


def vqgan(root, seed):
    model = tiny_vqgan(root)
    initialize(model, seed)
    # write_vqgan scales pixels to [-1, 1], and converts 1 x 1 convolutions to matrices.
    export_dalle.write_vqgan(model.state_dict(), OUT / "vae", resolution=16 * SIDE, groups=4)
    model.double()
    generator = torch.Generator().manual_seed(seed + 1)
    codes = torch.randint(0, CODES, (SIDE**2,), generator=generator)
    weights = torch.softmax(torch.randn(SIDE**2, CODES, generator=generator).double(), 1).float().double()

    def decode(weights):
        maps = (weights @ model.embedding.weight).view(1, SIDE, SIDE, -1).permute(0, 3, 1, 2)
        return model.decoder(model.post_quant_conv(maps)).permute(0, 2, 3, 1).reshape(-1, 3)

    with torch.no_grad():
        pixels = decode(F.one_hot(codes, CODES).double()).clip(0, 1)
    seen = []
    softmax = recording(seen)
    decoded = 2 * decode(weights) - 1
    torch.softmax = softmax
    loss = (decoded**2).sum()
    loss.backward()
    gradients = {f"gradient.{name}": value.grad for name, value in model.named_parameters()}
    for name, value in gradients.items():
        if re.search(r"attn.*\.(q|k|v|proj_out)\.weight", name):
            gradients[name] = value[:, :, 0, 0]
        if ".conv_out." in name:  # the exported parameter is twice as large
            gradients[name] = value / 2
    save(OUT / "vae", {"codes": codes, "weights": weights, "decoded": decoded, "pixels": pixels, "loss": loss[None],
                       **{f"attentions.{layer}": attention[0] for layer, attention in enumerate(seen)}, **gradients})


def main():
    root = sys.argv[1]
    sys.path.insert(0, root)
    torch.set_num_threads(1)
    # Bypass the package's __init__ file, which imports a downloader.
    package = types.ModuleType("min_dalle")
    package.__path__ = [root + "/min_dalle"]
    sys.modules["min_dalle"] = package
    vocabulary, merges, texts = tokenizer(root)
    dalle_mini(root, vocabulary, merges, 51)
    vqgan(root, 61)
    (OUT / "texts.json").write_text(json.dumps(texts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
