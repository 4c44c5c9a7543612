"""Trains the same ImageGPT from random weights in headlight and in PyTorch, in alternating runs, and prints the loss
and the speed of each.

Both use the same gray images of an IDX file, quantized to headlight's color clusters, and the same number of steps and
images. Both use Adam with the same learning rates, and initial weights from the same distribution. PyTorch's model is
Transformers' model, with its attention replaced by scaled_dot_product_attention, which is several times faster. The
bits per pixel of the validation images are compared. PyTorch also computes this score for the weights that headlight
trained. It must equal the score that headlight reports.
"""

import argparse
import gzip
import json
import math
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("PyTorch")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", help="images, IDX, gzip")
    parser.add_argument("--valid", help="the same")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3, help="turns, each with another seed")
    parser.add_argument("--warmup-steps", type=int, default=50, help="until the learning rate's peak")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32, help="images")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--model", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--clusters", type=int, default=16)
    parser.add_argument("--compute", choices=["float32", "bfloat16"], default="float32",
                        help="of headlight's products; PyTorch runs in float32")
    parser.add_argument("--device", default="cpu", help="of PyTorch; cuda where only the bits per pixel are asked for")
    parser.add_argument("--worker", help=argparse.SUPPRESS)  # the worker runs PyTorch once, in a separate process
    return parser.parse_args()


def read_idx(path):
    import numpy

    with gzip.open(path) as file:
        data = file.read()
    count, height, width = (int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(3))
    return numpy.frombuffer(data, numpy.uint8, offset=16).reshape(count, height * width), height


def in_colours(path, processor):
    """Returns the images [images, pixels] as the indices of the nearest colors, which are greys."""
    import numpy
    import torch

    images, _ = read_idx(path)
    greys = numpy.array(processor["clusters"], dtype=numpy.float32)[:, 0]
    values = numpy.arange(256, dtype=numpy.float32) / 127.5 - 1
    nearest = numpy.abs(values[:, None] - greys[None]).argmin(1)
    return torch.from_numpy(nearest[images].astype(numpy.int64))


def fast_attention():
    import torch
    from transformers.models.imagegpt.modeling_imagegpt import ImageGPTAttention

    def attend(self, query, key, value, attention_mask=None):
        dropout = self.attn_dropout.p if self.training else 0.0
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=dropout), None

    ImageGPTAttention._attn = attend


def loss_of(model, images):
    """Returns the sum of -log p of the pixels."""
    import torch

    images = images.to(model.device)
    start = torch.full((len(images), 1), model.config.vocab_size - 1, device=model.device)
    logits = model(input_ids=torch.cat([start, images[:, :-1]], 1), use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), images.flatten(), reduction="sum")


def bits_per_pixel(model, images):
    import torch

    model.eval()
    with torch.no_grad():
        total = sum(loss_of(model, images[begin:begin + 32]).item() for begin in range(0, len(images), 32))
    return total / math.log(2) / images.numel()


def worker(job):
    import torch
    from transformers import ImageGPTConfig, ImageGPTForCausalImageModeling

    fast_attention()
    torch.set_num_threads(job["threads"])
    torch.manual_seed(job["seed"])
    shuffle = random.Random(job["seed"])
    processor = json.loads(Path(job["processor"]).read_text())
    train, valid = in_colours(job["train"], processor), in_colours(job["valid"], processor)
    steps, warmup, peak = job["steps"], job["warmup"], 1e-3
    model = ImageGPTForCausalImageModeling(ImageGPTConfig(
        vocab_size=job["clusters"] + 1, n_positions=train.shape[1], n_embd=job["model"], n_layer=job["layers"],
        n_head=job["heads"], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)).to(job["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=peak, betas=(0.9, 0.98), eps=1e-9, fused=True)
    model.train()
    order, pixels, began = [], 0, time.perf_counter()
    for step in range(1, steps + 1):
        if len(order) < job["batch_size"]:
            order = shuffle.sample(range(len(train)), len(train))
        batch = train[order[:job["batch_size"]]]
        order = order[job["batch_size"]:]
        for group in optimizer.param_groups:
            group["lr"] = peak * (step / warmup if step < warmup else
                                  (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2)
        (loss_of(model, batch) / batch.numel()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        pixels += batch.numel()
    seconds = time.perf_counter() - began
    print(json.dumps({"pixels_per_second": pixels / seconds, "parameters": model.num_parameters(),
                      "bits_per_pixel": bits_per_pixel(model, valid)}))


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    if not options.train or not options.valid:
        sys.exit("pytorch_image_generation: --train FILE and --valid FILE are needed")
    import torch
    from transformers import ImageGPTForCausalImageModeling

    _, side = read_idx(options.valid)
    print(f"ImageGPT of {options.layers} layers, model {options.model}, {side} x {side} pixels in {options.clusters} "
          f"colours; {options.steps} steps of {options.batch_size} images; {options.threads} threads; PyTorch "
          f"{torch.__version__}\n")
    print(f"{'seed':>6} {'':18} {'pixels/s':>9} {'bits/pixel':>10} {'memory, MB':>11}")
    rates, bits = {"headlight": [], "PyTorch": []}, {"headlight": [], "PyTorch": []}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, options.repeats + 1):
            model = Path(folder) / f"model{seed}"
            _, _, peak = run([
                HEADLIGHT, "train", "image-generation", "--train", options.train, "--valid", options.valid, "--out",
                model, "--image-size", side, "--clusters", options.clusters, "--layers", options.layers, "--model-dim",
                options.model, "--heads", options.heads, "--batch-size", options.batch_size, "--steps", options.steps,
                "--warmup", options.warmup_steps, "--validate-every", 1000000, "--log-every", 1, "--seed", seed,
                "--compute", options.compute, "--threads", options.threads, "--quiet"])
            with open(model / "metrics.jsonl") as file:
                records = list(map(json.loads, file))
            steps = [record for record in records if "pixels" in record]
            ours = {"pixels_per_second": steps[-1]["pixels"] / steps[-1]["seconds"],
                    "bits_per_pixel": records[-1]["bits_per_pixel"]}
            processor = model / "preprocessor_config.json"
            valid = in_colours(options.valid, json.loads(processor.read_text()))
            checked = bits_per_pixel(ImageGPTForCausalImageModeling.from_pretrained(model), valid)
            job = {"train": options.train, "valid": options.valid, "processor": str(processor), "seed": seed,
                   "steps": options.steps, "warmup": options.warmup_steps, "threads": options.threads,
                   "clusters": options.clusters, "model": options.model, "layers": options.layers,
                   "heads": options.heads, "batch_size": options.batch_size, "device": options.device}
            output, _, peers_peak = run([sys.executable, __file__, "--worker", json.dumps(job)])
            theirs = json.loads(output)
            for name, result, memory in (("headlight", ours, peak), ("PyTorch", theirs, peers_peak)):
                rates[name].append(result["pixels_per_second"])
                bits[name].append(result["bits_per_pixel"])
                compute = options.compute if name == "headlight" else "float32"
                print(f"{seed:6} {name + ' ' + compute:18} {result['pixels_per_second']:9.0f} "
                      f"{result['bits_per_pixel']:10.4f} {memory:11.0f}", flush=True)
            if abs(checked - ours["bits_per_pixel"]) > 2e-3:
                sys.exit(f"pytorch_image_generation: headlight's weights have {checked:.4f} bits per pixel in PyTorch")
    ratio = statistics.median(rates["headlight"]) / statistics.median(rates["PyTorch"])
    less = statistics.mean(bits["PyTorch"]) - statistics.mean(bits["headlight"])
    print(f"\n{theirs['parameters'] / 1e6:.1f} M parameters. Pixels/s over PyTorch's: {ratio:.2f}. Bits per pixel below "
          f"PyTorch's: {less:+.4f}, the mean of {options.repeats}.")
    record(options, f"PyTorch {torch.__version__}", f"train an ImageGPT, {options.layers} layers of {options.model}",
           f"{options.compute}, peer float32", "pixels/s", statistics.median(rates["headlight"]),
           statistics.median(rates["PyTorch"]))


if __name__ == "__main__":
    main()
