#!/usr/bin/env python3
"""Makes headlight/image/testdata: small images of every kind that is read, and what Pillow makes of them.

    pip install pillow numpy && tools/make_image_goldens.py

images.txt has a line for each file: NAME WIDTH HEIGHT CRC32, of the pixels in red, green and blue, or NAME refused.
Of lossy formats, whose decoders differ by a level between versions, the pixels themselves are in NAME.rgb. resized.txt
has lines WIDTH HEIGHT NEW_WIDTH NEW_HEIGHT RESAMPLE CRC32; byte i of the image is (i * i // 7 + 31 * i) % 256.
"""

import io
import itertools
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

out = pathlib.Path(__file__).parent.parent / "headlight/image/testdata"
out.mkdir(exist_ok=True)
rng = np.random.default_rng(1)

# Smooth, so that lossy formats keep it, and without symmetry, so that orientations differ.
y, x = np.mgrid[0:12, 0:18]
rgb = np.stack([x * 14, y * 20, 255 - x * 7 - y * 9], axis=2).astype(np.uint8)
alpha = (x * 255 // 17).astype(np.uint8)
grey = rgb[:, :, 0]
image = Image.fromarray(rgb)
files = {}


def save(name, image, **options):
    buffer = io.BytesIO()
    image.save(buffer, name.rsplit(".")[-1].replace("jpg", "jpeg"), **options)
    files[name] = buffer.getvalue()


def chunk(kind, data, crc=None):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body) if crc is None else crc)


def png(depth, colour, rows, before=b"", after=b"", width=18, height=12, interlace=0, crc=None):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header, crc) + before + chunk(b"IDAT", pixels) + after + chunk(b"IEND", b""))


save("rgb.png", image)
save("rgba.png", Image.fromarray(np.dstack([rgb, alpha])))
save("grey.png", Image.fromarray(grey))
save("grey_alpha.png", Image.fromarray(np.dstack([grey, alpha])))
save("one_bit.png", Image.fromarray(grey > 100))
save("palette.png", image.quantize(7))
save("palette_transparent.png", image.quantize(7), transparency=3)
palette = chunk(b"PLTE", bytes(range(12)))
for depth in (1, 2, 4):
    packed = [np.packbits(np.unpackbits((row // (256 >> depth))[:, None], axis=1)[:, 8 - depth:]) for row in grey]
    files[f"grey_{depth}.png"] = png(depth, 0, packed)
    files[f"palette_{depth}.png"] = png(depth, 3, packed, palette)  # of four colours: the others are black
wide = rng.integers(0, 65536, (12, 18, 4)).astype(">u2")
files["rgb_16.png"] = png(16, 2, [row.tobytes() for row in wide[:, :, :3]])
files["rgba_16.png"] = png(16, 6, [row.tobytes() for row in wide])
files["grey_16.png"] = png(16, 0, [(row % 300).astype(">u2").tobytes() for row in wide[:, :, 0]])
files["grey_alpha_16.png"] = png(16, 4, [row.tobytes() for row in wide[:, :, :2]])
# Interlaced: the pixels of seven passes.
passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
files["interlaced.png"] = png(8, 2, [row.tobytes() for t, l, dy, dx in passes for row in rgb[t::dy, l::dx]], interlace=1)

exif = lambda orientation: b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0" + bytes([orientation]) + b"\0\0\0\0\0\0\0"
rows = [row.tobytes() for row in rgb]
xmp = b'<x:xmpmeta><rdf:Description tiff:Orientation="8"/></x:xmpmeta>'
files["exif.png"] = png(8, 2, rows, chunk(b"eXIf", exif(6)))
files["exif_after.png"] = png(8, 2, rows, after=chunk(b"eXIf", exif(3)))
files["exif_text.png"] = png(8, 2, rows, chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(
    b"\nexif\n      32\n" + (b"Exif\0\0" + exif(5)).hex().encode() + b"\n")))
files["xmp.png"] = png(8, 2, rows, chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp))
files["exif_broken.png"] = png(8, 2, rows, chunk(b"eXIf", b"LoremIpsum"))
files["header_sum.png"] = png(8, 2, rows, crc=1)
files["truncated.png"] = files["rgb.png"][:-30]
files["no_end.png"] = files["rgb.png"][:-12]
files["wide.png"] = png(8, 2, [], width=200000, height=200000)

save("rgb.jpg", image, quality=90)
save("full_chroma.jpg", image, quality=95, subsampling=0)
save("half_chroma.jpg", image, quality=95, subsampling=1)
save("progressive.jpg", image, quality=90, progressive=True)
save("grey.jpg", Image.fromarray(grey), quality=90)
save("cmyk.jpg", Image.fromarray(np.dstack([rgb, alpha]), mode="CMYK"), quality=95)
for orientation in range(1, 9):
    save(f"exif_{orientation}.jpg", image, quality=90, exif=b"Exif\0\0" + exif(orientation))
save("xmp.jpg", image, quality=90, xmp=xmp)
files["exif_broken.jpg"] = files["exif_6.jpg"].replace(b"II*\0", b"\xff\xff\xff\xff")
files["truncated.jpg"] = files["rgb.jpg"][:-20]
files["no_end.jpg"] = files["rgb.jpg"][:-2]

save("lossless.webp", image, lossless=True)
save("lossless_alpha.webp", Image.fromarray(np.dstack([rgb, alpha])), lossless=True, exact=True)
save("lossy.webp", image, quality=90)
save("exif.webp", image, lossless=True, exif=exif(7))
save("animated.webp", image, lossless=True, save_all=True, append_images=[Image.fromarray(rgb[::-1])])
files["truncated.webp"] = files["lossless.webp"][:-10]
files["text.txt"] = b"no image"

lines = []
for name, data in sorted(files.items()):
    (out / name).write_bytes(data)
    try:
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
    except Exception:  # Pillow has many
        lines.append(f"{name} refused")
        continue
    lines.append(f"{name} {image.width} {image.height} {zlib.crc32(image.tobytes())}")
    if name.endswith(".jpg") or name == "lossy.webp":
        (out / f"{name}.rgb").write_bytes(image.tobytes())
(out / "images.txt").write_text("\n".join(lines) + "\n")

lines = []
sizes = [(1, 1), (1, 9), (9, 1), (5, 7), (17, 13), (64, 48), (48, 64), (100, 100)]
for (w, h), (new_w, new_h), resample in itertools.product(sizes, [(1, 1), (8, 8), (17, 5), (30, 40), (48, 48)], range(6)):
    i = np.arange(w * h * 3, dtype=np.int64)
    image = Image.fromarray(((i * i // 7 + 31 * i) % 256).astype(np.uint8).reshape(h, w, 3))
    resized = image.resize((new_w, new_h), resample)
    lines.append(f"{w} {h} {new_w} {new_h} {resample} {zlib.crc32(resized.tobytes())}")
(out / "resized.txt").write_text("\n".join(lines) + "\n")
