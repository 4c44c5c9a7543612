#!/usr/bin/env python3
"""Makes headlight/image/testdata: small images of every supported kind, decoded by Pillow.

    pip install pillow numpy && tools/make_image_goldens.py

images.txt has a line for each file: NAME WIDTH HEIGHT CRC32 of the red, green and blue pixels, or NAME refused. For
lossy formats and color models, whose decoders differ by one level between versions, NAME.rgb has the pixels.
Transparent images are composited over white, and 16-bit greys keep their upper bytes, which differs from Pillow's
convert. resized.txt has lines WIDTH HEIGHT NEW_WIDTH NEW_HEIGHT RESAMPLE CRC32; byte i of the image is (i * i // 7 + 31
* i) % 256.
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

# The image is smooth, so that lossy formats preserve it. It has no symmetry, so that orientations differ.
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
    files[f"palette_{depth}.png"] = png(depth, 3, packed, palette)  # a palette of four colors; other indices are black
wide = rng.integers(0, 65536, (12, 18, 4)).astype(">u2")
files["rgb_16.png"] = png(16, 2, [row.tobytes() for row in wide[:, :, :3]])
files["rgba_16.png"] = png(16, 6, [row.tobytes() for row in wide])
files["grey_16.png"] = png(16, 0, [(row % 300).astype(">u2").tobytes() for row in wide[:, :, 0]])
files["grey_alpha_16.png"] = png(16, 4, [row.tobytes() for row in wide[:, :, :2]])
files["key.png"] = png(8, 2, [(row // 64 * 64).tobytes() for row in rgb],
                       before=chunk(b"tRNS", struct.pack(">HHH", *(rgb[3, 4] // 64 * 64).tolist())))
# The pixels of the seven passes of an interlaced PNG.
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

for mode in ("1", "L", "P", "RGB", "RGBA"):
    save({"1": "one_bit", "L": "grey", "P": "palette", "RGB": "rgb", "RGBA": "rgba"}[mode] + ".bmp", Image.fromarray(np.dstack([rgb, alpha])) if mode == "RGBA" else image.convert(mode))


def bmp(bits, rows, width=18, height=12, compression=0, colours=b"", masks=b"", header=40):
    offset = 14 + header + len(masks) + len(colours)
    data = b"".join(bytes(row) + bytes(-len(row) % 4) for row in rows) if compression in (0, 3) else rows
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(data), 0, 0, len(colours) // 4, 0)
    return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + info + masks + colours + data


sixteen = bytes(sum(([i * 16, 255 - i * 9, i * 5, 0] for i in range(16)), []))
nibbles = (grey // 16).astype(np.uint8)
packed = [(row[0::2] << 4 | row[1::2]).tobytes() for row in nibbles[::-1]]
files["four_bit.bmp"] = bmp(4, packed, colours=sixteen)
files["os2.bmp"] = bmp(4, packed, colours=b"".join(sixteen[4 * i:4 * i + 3] for i in range(16)), header=12)
files["top_down.bmp"] = bmp(24, [row[:, ::-1].tobytes() for row in rgb], height=-12)
five = (rgb.astype(np.uint16) >> 3)
files["rgb_555.bmp"] = bmp(16, [(row[:, 0] << 10 | row[:, 1] << 5 | row[:, 2]).astype("<u2").tobytes() for row in five[::-1]])
six = rgb[:, :, 1].astype(np.uint16) >> 2
files["rgb_565.bmp"] = bmp(16, [(five[i, :, 0] << 11 | six[i] << 5 | five[i, :, 2]).astype("<u2").tobytes() for i in range(11, -1, -1)],
                           compression=3, masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F))
runs = b"".join(b"".join(bytes([1, value]) if i % 3 else bytes([2, value]) for i, value in enumerate(row[:12])) + bytes([0, 5]) +
                bytes(row[13:]) + b"\0" + bytes([0, 0]) for row in nibbles[::-1])
files["runs.bmp"] = bmp(8, runs + b"\0\1", compression=1, colours=sixteen, width=21)
runs = b"".join(bytes([6, row[0] << 4 | row[9], 0, 5, row[1] << 4 | row[2], row[3] << 4 | row[4], row[5] << 4, 0, 7, row[8] << 4 | row[8], 0, 0])
                for row in nibbles[::-1])
files["runs_4.bmp"] = bmp(4, runs + b"\0\1", compression=2, colours=sixteen)
files["truncated.bmp"] = files["rgb.bmp"][:-9]
files["empty.bmp"] = bmp(24, [], width=0)

save("grey.gif", Image.fromarray(grey))
save("palette.gif", image.quantize(7))
save("transparent.gif", image.quantize(7), transparency=3)
save("plain.gif", image.quantize(7), interlace=0)
save("animated.gif", image.quantize(7), save_all=True, append_images=[Image.fromarray(rgb[::-1]).quantize(5)])
files["truncated.gif"] = files["palette.gif"][:-30]
files["header.gif"] = files["palette.gif"][:13]

save("rgb.tiff", image)
save("lzw.tiff", image, compression="tiff_lzw")
save("deflate.tiff", image, compression="tiff_adobe_deflate")
save("packbits.tiff", image.quantize(7), compression="packbits")
save("fax.tiff", Image.fromarray(grey > 100), compression="group4")
save("grey.tiff", Image.fromarray(grey))
save("grey_16.tiff", Image.fromarray(wide[:, :, 0].astype(np.uint16)))
save("rgba.tiff", Image.fromarray(np.dstack([rgb, alpha])))
save("cmyk.tiff", Image.fromarray(np.dstack([rgb, alpha]), mode="CMYK"))
save("jpeg.tiff", image, compression="jpeg", quality=95)
for orientation in (3, 6, 7):
    save(f"turned_{orientation}.tiff", image, tiffinfo={274: orientation})
files["truncated.tiff"] = files["lzw.tiff"][:-40]
files["header.tiff"] = files["rgb.tiff"][:8]

save("lossless.webp", image, lossless=True)
save("lossless_alpha.webp", Image.fromarray(np.dstack([rgb, alpha])), lossless=True, exact=True)
save("lossy.webp", image, quality=90)
save("exif.webp", image, lossless=True, exif=exif(7))
save("animated.webp", image, lossless=True, save_all=True, append_images=[Image.fromarray(rgb[::-1])])
files["truncated.webp"] = files["lossless.webp"][:-10]
files["text.txt"] = b"no image"

def to_rgb(image):
    """Converts an image to red, green and blue, composited over white."""
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    values = np.asarray(image.convert("RGBA")).astype(int)
    opacity = values[:, :, 3:]
    return Image.fromarray(((values[:, :, :3] * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8))


lines = []
for name, data in sorted(files.items()):
    (out / name).write_bytes(data)
    try:
        image = to_rgb(ImageOps.exif_transpose(Image.open(io.BytesIO(data))))
    except Exception:  # Pillow raises many types of exceptions
        lines.append(f"{name} refused")
        continue
    lines.append(f"{name} {image.width} {image.height} {zlib.crc32(image.tobytes())}")
    if name.endswith(".jpg") or name in ("lossy.webp", "cmyk.tiff", "jpeg.tiff"):
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
