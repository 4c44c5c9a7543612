"""Reads JPEG files and preprocesses them for a model, in headlight and in Pillow, in alternating runs, on one thread.

The images are generated: soft colors with detail and some noise, 640 x 480, saved with quality 90 like photographs,
with half and with full color resolution. Each image is decoded, resized to 224 x 224 by the filter, and normalized to
float32. Pillow's bytes are converted with NumPy. The results of both sides are equal except for the decoders' rounding.
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

limit_peers("Pillow")  # must precede the import of a peer

from results import record

HEADLIGHT = "build/release/headlight"
FILTERS = {"bilinear": 2, "bicubic": 3}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=480)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--images", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


def draw(options, folder, subsampling):
    import numpy
    from PIL import Image

    folder.mkdir()
    random = numpy.random.default_rng(1)
    for number in range(options.images):
        image = numpy.zeros((options.height, options.width, 3))
        for size, weight in ((4, 90), (16, 45), (64, 25), (256, 12)):  # from large shapes to detail
            noise = Image.fromarray(random.integers(0, 256, (size, size, 3), dtype=numpy.uint8))
            scaled = noise.resize((options.width, options.height), Image.Resampling.BICUBIC)
            image += weight * (numpy.asarray(scaled) / 127.5 - 1)
        image += random.normal(0, 4, image.shape)
        pixels = Image.fromarray(numpy.clip(image + 128, 0, 255).astype(numpy.uint8))
        pixels.save(folder / f"{number:03}.jpg", quality=90, subsampling=subsampling)
    return sorted(folder.iterdir())


def theirs(files, side, resample):
    import numpy
    from PIL import Image

    mean = std = numpy.float32(0.5)
    began = time.perf_counter()
    for file in files:
        with Image.open(file) as image:
            resized = image.convert("RGB").resize((side, side), resample)
        (numpy.asarray(resized) * numpy.float32(1 / 255) - mean) / std
    return len(files) / (time.perf_counter() - began)


def ours(model, folder):
    finished = subprocess.run([HEADLIGHT, "bench", "images", model, folder, "--threads", "1", "--repetitions", "1",
                               "--json", "--quiet"], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"pillow_images: {finished.stderr}")
    return json.loads(finished.stdout)["images_per_second"]


def main():
    options = arguments()
    import PIL

    print(f"one thread; Pillow {PIL.__version__}; {options.width} x {options.height} to {options.side} x {options.side}; "
          f"medians of {options.repeats} turns\n")
    print(f"{'colour':>6} {'filter':>9} {'headlight':>10} {'Pillow':>10} {'ratio':>6}   images per second")
    with tempfile.TemporaryDirectory() as temporary:
        for colour, subsampling in (("half", 2), ("full", 0)):
            folder = Path(temporary) / colour
            files = draw(options, folder, subsampling)
            for name, resample in FILTERS.items():
                model = Path(temporary) / f"{colour}-{name}"
                model.mkdir()
                (model / "preprocessor_config.json").write_text(json.dumps({
                    "image_processor_type": "ViTImageProcessor", "resample": resample,
                    "size": {"height": options.side, "width": options.side}}))
                theirs(files, options.side, resample)
                mine, others = [], []
                for _ in range(options.repeats):
                    mine.append(ours(model, folder))
                    others.append(theirs(files, options.side, resample))
                a, b = statistics.median(mine), statistics.median(others)
                print(f"{colour:>6} {name:>9} {a:10.1f} {b:10.1f} {a / b:6.2f}", flush=True)
                record(options, f"Pillow {PIL.__version__}",
                       f"read a JPEG file of {options.width} x {options.height} and prepare {options.side} x "
                       f"{options.side}",
                       f"colors at {colour} resolution, {name}", "images/s", a, b)


if __name__ == "__main__":
    main()
