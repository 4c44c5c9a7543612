"""Generates captions of random images with a ViT-base and a GPT-2 base of random weights, in headlight and in
Transformers with its cache, in alternating runs, and prints the speeds.

Both generate captions of the same length with the same beam size. Transformers gets batches of prepared tensors, and
uses its fastest attention. headlight reads PNG files, preprocesses them and prints the captions. The time for one
batch is subtracted from the time for many images, which excludes the loading of the model.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from instruction_limits import limit_peers

limit_peers("Transformers")  # must precede the import of a peer

from measured import run
from results import record

HEADLIGHT = "build/release/headlight"
SIDE = 224


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images")
    parser.add_argument("--batches", type=int, default=3, help="of a turn")
    parser.add_argument("--beams", type=int, default=4)
    parser.add_argument("--length", type=int, default=19, help="tokens of a caption")
    parser.add_argument("--compute", nargs="+", default=["float32", "bfloat16", "int8"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    # The worker runs Transformers in a separate process.
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def make(folder):
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, ViTConfig, ViTModel, VisionEncoderDecoderModel

    torch.manual_seed(1)
    decoder = GPT2LMHeadModel(GPT2Config(is_decoder=True, add_cross_attention=True, initializer_range=0.1))
    model = VisionEncoderDecoderModel(encoder=ViTModel(ViTConfig(), add_pooling_layer=False), decoder=decoder)
    for settings in (model.config, model.generation_config):
        settings.decoder_start_token_id = settings.bos_token_id = settings.eos_token_id = settings.pad_token_id = 50256
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(
        {"image_processor_type": "ViTImageProcessor", "do_resize": False, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}))
    words = {character: id for id, character in enumerate(pre_tokenizers.ByteLevel.alphabet())}
    words |= {f"word{id}": id for id in range(len(words), decoder.config.vocab_size)}
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))


def pixels_of(paths):
    import numpy
    from PIL import Image

    return numpy.stack([(numpy.asarray(Image.open(path), numpy.float32) / 255 - 0.5) / 0.5 for path in paths]).transpose(
        0, 3, 1, 2)


def worker(job):
    """Prints the ids of the first batch's captions, and the seconds per batch."""
    import torch
    from transformers import VisionEncoderDecoderModel

    torch.set_num_threads(job["threads"])
    model = VisionEncoderDecoderModel.from_pretrained(job["folder"]).eval().to(getattr(torch, job["dtype"]))
    pixels = torch.from_numpy(pixels_of(job["images"])).to(model.dtype)

    def write(batch):
        with torch.inference_mode():
            return model.generate(pixel_values=batch, num_beams=job["beams"], max_new_tokens=job["length"],
                                  min_new_tokens=job["length"], do_sample=False, use_cache=True)

    ids = write(pixels[:job["batch"]])
    began = time.perf_counter()
    for first in range(0, len(pixels), job["batch"]):
        write(pixels[first:first + job["batch"]])
    seconds = (time.perf_counter() - began) * job["batch"] / len(pixels)
    print(json.dumps([ids.tolist(), seconds]))


def main():
    options = arguments()
    if options.worker:
        return worker(json.loads(options.worker))
    import numpy
    import transformers
    from PIL import Image

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folder = work / "captioner"
        make(folder)
        random = numpy.random.default_rng(1)
        count = options.batch * options.batches
        images = [work / f"{number:04}.png" for number in range(count + options.batch)]
        for image in images:  # large squares, so that images differ like photographs
            squares = random.integers(0, 256, (7, 7, 3), dtype=numpy.uint8)
            Image.fromarray(squares.repeat(SIDE // 7, 0).repeat(SIDE // 7, 1)).save(image)

        def ours(compute, some):
            printed, seconds, _ = run([
                HEADLIGHT, "caption", folder, *some, "--beam-size", options.beams, "--min-length", options.length,
                "--max-length", options.length, "--compute", compute, "--threads", options.threads, "--quiet"])
            assert len(printed.splitlines()) == len(some)
            return seconds

        def theirs(dtype):
            job = {"folder": str(folder), "images": [str(image) for image in images[:count]], "dtype": dtype,
                   "batch": options.batch, "beams": options.beams, "length": options.length, "threads": options.threads}
            finished = subprocess.run([sys.executable, __file__, "--worker", json.dumps(job)], stdout=subprocess.PIPE,
                                      check=True)
            return json.loads(finished.stdout)[1]

        print(f"batches of {options.batch} images, {options.beams} beams, captions of {options.length} tokens, "
              f"{options.threads} threads; Transformers {transformers.__version__}; medians of {options.repeats} turns\n")
        for compute in options.compute:
            dtype = "float32" if compute == "float32" else "bfloat16"
            mine, others = [], {dtype: [] for dtype in sorted({dtype, "float32"})}
            for _ in range(options.repeats):
                first = ours(compute, images[:options.batch])
                mine.append((ours(compute, images) - first) / options.batches)
                for peer in others:
                    others[peer].append(theirs(peer))
            a, b = statistics.median(mine), min(statistics.median(seconds) for seconds in others.values())
            print(f"headlight {compute:9} {options.batch / a:8.2f} images/s   Transformers {options.batch / b:8.2f}   "
                  f"ratio {b / a:.2f}", flush=True)
            record(options, f"Transformers {transformers.__version__}", "caption images with ViT-base and GPT-2",
                   f"batch {options.batch}, beam {options.beams}, {compute}", "images/s", options.batch / a,
                   options.batch / b)


if __name__ == "__main__":
    main()
