#!/usr/bin/env python3
"""Makes headlight/image/testdata/augmented.txt: images augmented by torchvision's functions with Pillow.

    pip install torch torchvision pillow && tools/make_augment_goldens.py

A line has WIDTH HEIGHT NAME, the function's numbers, and the CRC32 of the pixels in red, green and blue. Byte i of the
image is (i * i // 7 + 31 * i) % 256. For a blurred image, the pixels are stored, because they may differ by one level.
"""

import math
import pathlib
import zlib

import numpy as np
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F

lines = []
for width, height in ((40, 30), (31, 64), (5, 7)):
    i = np.arange(width * height * 3, dtype=np.int64)
    image = Image.fromarray(((i * i // 7 + 31 * i) % 256).astype(np.uint8).reshape(height, width, 3))

    def add(name, changed, *numbers):
        crc = zlib.crc32(np.asarray(changed.convert("RGB")).tobytes())
        lines.append(" ".join(str(word) for word in (width, height, name, *numbers, crc)))

    for factor in (0, 0.1, 0.37, 0.9, 1, 1.6, 2.5):
        add("brightness", F.adjust_brightness(image, factor), factor)
        add("contrast", F.adjust_contrast(image, factor), factor)
        add("saturation", F.adjust_saturation(image, factor), factor)
        add("sharpness", F.adjust_sharpness(image, factor), factor)
    for turn in (-0.5, -0.21, -0.001, 0, 0.03, 0.1, 0.5):
        add("hue", F.adjust_hue(image, turn), turn)
    add("grey", F.to_grayscale(image, 3))
    add("flip", F.hflip(image))
    add("autocontrast", F.autocontrast(image))
    add("autocontrast_of_dark", F.autocontrast(F.adjust_brightness(image, 0.3)))
    add("equalize", F.equalize(image))
    add("equalize_of_dark", F.equalize(F.adjust_brightness(image, 0.3)))
    for threshold in (0, 63.75, 128, 255):
        add("solarize", F.solarize(image, threshold), threshold)
    for bits in range(1, 9):
        add("posterize", F.posterize(image, bits), bits)
    affine = lambda shear, move: F.affine(image, 0, move, 1, [math.degrees(math.atan(s)) for s in shear], center=[0, 0])
    for tangent in (-0.3, -0.09, 0.01, 0.2):
        add("shear_x", affine((tangent, 0), (0, 0)), tangent)
        add("shear_y", affine((0, tangent), (0, 0)), tangent)
    for pixels in (-9, 3):
        add("translate_x", affine((0, 0), (pixels, 0)), pixels)
        add("translate_y", affine((0, 0), (0, pixels)), pixels)
    for degrees in (-30, -9.3, 0, 2, 17):
        add("rotate", F.rotate(image, degrees), degrees)
    for mode, number in ((InterpolationMode.BILINEAR, 2), (InterpolationMode.BICUBIC, 3)):
        region = (1, 2, height - 3, width - 2)
        add("resized_crop", F.resized_crop(image, *region, (16, 12), mode), *region, 16, 12, number)
    for kernel, deviation in ((3, 0.1), (3, 2), (5, 1.3)):
        blurred = np.asarray(F.gaussian_blur(image.crop((0, 0, 5, 7)), kernel, deviation)).tobytes().hex()
        lines.append(f"5 7 blur {kernel} {deviation} {blurred}" if width == 5 else "")

out = pathlib.Path(__file__).parent.parent / "headlight/image/testdata/augmented.txt"
out.write_text("".join(line + "\n" for line in lines if line))
