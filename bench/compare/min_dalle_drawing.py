"""Generates images with a DALL-E mini of random weights in headlight and in min-dalle, in alternating runs. Prints the
seconds from the weights on disk to the images. Both use a guidance scale of 16 and top-k 256, which are min-dalle's
defaults.

    bench/compare/min_dalle_drawing min-dalle-0.4.11    # its source distribution

First, both compute the logits of an image's codes. The largest difference is printed relative to the largest logit.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("min-dalle")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"
SIZES = {"attention_head_count": 16, "embed_count": 1024, "glu_embed_count": 2730, "layer_count": 12, "device": "cpu"}
TOKENS = 64
WORDS = {token: place for place, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", "\u0120", *"abcdefghijklmnopqrstuvwxyz"])}
TEXT = "an armchair in the shape of an avocado"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("min_dalle", help="folder of min-dalle's source distribution")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 4], help="images drawn at once, squares")
    parser.add_argument("--compute", nargs="+", default=["float32", "bfloat16", "int8"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    # The worker runs min-dalle in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def models(root):
    """Returns min-dalle's three models with random weights."""
    import torch

    torch.set_grad_enabled(False)
    package = types.ModuleType("min_dalle")  # skips min-dalle's __init__.py, which imports a downloader
    package.__path__ = [root + "/min_dalle"]
    sys.modules["min_dalle"] = package
    from min_dalle.models import DalleBartDecoder, DalleBartEncoder, VQGanDetokenizer

    torch.manual_seed(1)
    return (DalleBartEncoder(text_vocab_count=50264, text_token_count=TOKENS, **SIZES).eval(),
            DalleBartDecoder(image_vocab_count=1 << 14, **SIZES).eval(), VQGanDetokenizer().eval())


def prompts():
    """Returns the ids of the empty text, which is the unconditional input, and of the text."""
    import torch

    words = [WORDS[letter] for word in TEXT.split() for letter in "\u0120" + word]
    text = torch.ones(2, TOKENS, dtype=torch.long)
    text[0, :2] = torch.tensor([0, 2])
    text[1, : len(words) + 2] = torch.tensor([0, *words, 2])
    return text, words


def make(root, work):
    """Writes the weights in min-dalle's format and as a headlight folder. Returns the largest difference of the
    logits."""
    import numpy
    import torch
    from safetensors.numpy import load_file, save_file

    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
    import export_dalle

    parts = models(root)
    for name, model in zip(("encoder", "decoder", "detoker"), parts):
        torch.save(model.state_dict(), work / f"{name}.pt")
    export_dalle.write_dalle_mini(parts[0].state_dict(), parts[1].state_dict(), WORDS, [], work / "mini")
    export_dalle.write_vqgan(dict(parts[2].state_dict()), work / "mini" / "vae")
    text, words = prompts()
    codes = torch.randint(0, 1 << 14, (1, 256))
    begun = torch.cat([torch.full((1, 1), (1 << 14) - 1), codes[:, :-1]], 1)
    theirs, _ = parts[1](text.not_equal(1)[:, None, None, :], parts[0](text), [None] * 12, begun, torch.arange(256))
    save_file({"input_ids": numpy.array([words], dtype=numpy.int32), "codes": codes[:, :-1].numpy().astype(numpy.int32)}, work / "in.safetensors")
    run([HEADLIGHT, "forward", work / "mini", work / "in.safetensors", "--out", work / "out.safetensors", "--quiet"])
    theirs = theirs[1, :, : 1 << 14].numpy()
    return numpy.abs(load_file(work / "out.safetensors")["logits"][0] - theirs).max() / numpy.abs(theirs).max()


def worker(job):
    """Measures the seconds from weights to images, with the steps of MinDalle.generate_raw_image_stream."""
    import torch

    torch.set_num_threads(job["threads"])
    encoder, decoder, detokenizer = models(job["root"])
    count = job["count"]
    text, _ = prompts()
    began = time.perf_counter()
    for name, model in (("encoder", encoder), ("decoder", decoder), ("detoker", detokenizer)):
        model.load_state_dict(torch.load(f"{job['work']}/{name}.pt"), strict=False)
    expanded = [0] * count + [1] * count
    states = encoder(text)[expanded]
    mask = text[expanded].not_equal(1)[:, None, None, :]
    cache = torch.zeros(SIZES["layer_count"], 4 * count, 256, SIZES["embed_count"])
    codes = torch.full((count, 257), (1 << 14) - 1)
    settings, places = torch.tensor([1.0, 256, 16]), torch.arange(256)
    for i in range(256):
        codes[:, i + 1], cache = decoder.sample_tokens(settings=settings, attention_mask=mask, encoder_state=states, attention_state=cache,
                                                       prev_tokens=codes[:, [i]], token_index=places[[i]])
    detokenizer(False, codes[:, 1:]).to(torch.uint8)
    print(json.dumps(time.perf_counter() - began))


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        print(f"logits differ by at most {make(options.min_dalle, work):.1e} of the largest\n")
        print(f"{options.threads} threads; medians of {options.repeats} turns; seconds\n")
        for count in options.counts:
            for compute in options.compute:
                mine, others = [], []
                for _ in range(options.repeats):
                    mine.append(run([HEADLIGHT, "draw", work / "mini", TEXT, "--n-best", count, "--guidance", 16, "--top-k", 256, "--compute",
                                     compute, "--threads", options.threads, "--out", work / "drawn.png", "--quiet"])[1])
                    job = {"root": options.min_dalle, "work": temporary, "count": count, "threads": options.threads}
                    finished = subprocess.run([sys.executable, __file__, options.min_dalle, "--worker", json.dumps(job)],
                                              stdout=subprocess.PIPE, check=True)
                    others.append(json.loads(finished.stdout))
                a, b = statistics.median(mine), statistics.median(others)
                print(f"{count} at once: headlight {compute:9} {a:6.1f}   min-dalle float32 {b:6.1f}   ratio {b / a:.2f}", flush=True)
                record(options, Path(options.min_dalle).name, "generate images with a DALL-E mini, from weights on disk",
                       f"{count} at once, {compute}, peer float32", "s", a, b)


if __name__ == "__main__":
    main()
