#!/usr/bin/env python3
"""Draws the diagrams of docs/learn: attention with numbers, multi-head attention, and the Transformer's architecture.

    tools/draw_diagrams.py        writes docs/images/{attention,multi_head,transformer}.svg
"""

import math
from pathlib import Path

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
INK, LINE, SOFT = "#1f2430", "#5b6475", "#eef1f6"
BLUE, GREEN, ORANGE, PURPLE, GREY = "#cfe2ff", "#cdeccf", "#ffe0b8", "#e3d5f7", "#e4e7ed"


class Drawing:
    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" font-family="Helvetica, Arial, sans-serif" font-size="14" fill="{INK}">',
            f"<title>{title}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0,0 L8,4 L0,8 z" fill="{LINE}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="12" fill="#ffffff"/>']

    def box(self, x, y, width, height, fill, *lines, size=14, dash=False):
        style = ' stroke-dasharray="5 4"' if dash else ""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" '
                          f'stroke="{LINE}"{style}/>')
        for index, line in enumerate(lines):
            self.text(x + width / 2, y + height / 2 + 5 + 17 * (index - (len(lines) - 1) / 2), line, size=size)

    def text(self, x, y, line, size=14, anchor="middle", weight="normal", fill=INK):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
                          f'fill="{fill}">{line}</text>')

    def arrow(self, *points, tip=True):
        path = " ".join(f"{'M' if i == 0 else 'L'}{x:g},{y:g}" for i, (x, y) in enumerate(points))
        end = ' marker-end="url(#tip)"' if tip else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.5"{end}/>')

    def matrix(self, x, y, rows, cell, shade=None, size=13):
        """Draws a table of numbers. If `shade` is a color, cells with larger weights are darker."""
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                fill = f'{shade}" fill-opacity="{value:.2f}' if shade else SOFT
                self.parts.append(f'<rect x="{x + j * cell}" y="{y + i * 30}" width="{cell}" height="30" fill="{fill}" '
                                  f'stroke="{LINE}"/>')
                self.text(x + (j + 0.5) * cell, y + i * 30 + 20, f"{value:g}", size=size)

    def save(self, name):
        (IMAGES / name).write_text("\n".join([*self.parts, "</svg>"]) + "\n", encoding="utf-8")


def attention():
    """Draws the look-up of docs/learn/attention.md with three queries and four keys."""
    queries = [[0, 10, 0], [0, 0, 10], [10, 10, 0]]
    keys = [[10, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]]
    values = [[1, 0, 1], [10, 0, 2], [100, 5, 0], [1000, 6, 0]]
    scores = [[sum(a * b for a, b in zip(q, k)) / math.sqrt(3) for k in keys] for q in queries]
    weights = [[math.exp(s - max(row)) / sum(math.exp(t - max(row)) for t in row) for s in row] for row in scores]
    output = [[sum(w * v[j] for w, v in zip(row, values)) for j in range(3)] for row in weights]
    d = Drawing(900, 372, "Scaled dot-product attention of three queries and four keys, with numbers")

    def named(x, y, name, shape, width):
        d.text(x + width / 2, y - 26, name, weight="bold")
        d.text(x + width / 2, y - 9, shape, size=12, fill=LINE)

    named(40, 60, "Q", "[query, head_dim] = [3, 3]", 108)
    d.matrix(40, 60, queries, 36)
    named(40, 216, "K", "[key, head_dim] = [4, 3]", 108)
    d.matrix(40, 216, keys, 36)
    named(240, 60, "Q Kᵀ / √3", "scores [query, key]", 176)
    d.matrix(240, 60, [[round(s, 1) for s in row] for row in scores], 44)
    named(500, 60, "softmax of each row", "weights [query, key]", 160)
    d.matrix(500, 60, [[round(w, 2) for w in row] for row in weights], 40, shade="#3b7dd8")
    named(520, 216, "V", "[key, value_dim] = [4, 3]", 120)
    d.matrix(520, 216, values, 40)
    named(740, 138, "weights · V", "result [query, value_dim]", 138)
    d.matrix(740, 138, [[round(v, 1) for v in row] for row in output], 46)
    d.arrow((152, 105), (234, 105))
    d.arrow((152, 276), (196, 276), (196, 105), tip=False)
    d.arrow((420, 105), (494, 105))
    d.arrow((664, 105), (700, 105), (700, 183), tip=False)
    d.arrow((644, 276), (700, 276), (700, 183), (734, 183))
    d.text(808, 256, "the means of the values", size=12, fill=LINE)
    d.text(808, 272, "with these weights", size=12, fill=LINE)
    d.save("attention.svg")


def multi_head():
    d = Drawing(640, 420, "Multi-head attention")
    for index, name in enumerate(("queries", "keys", "values")):
        x = 60 + 190 * index
        d.text(x + 70, 402, f"{name}: rows [tokens, model]", size=12, fill=LINE)
        d.arrow((x + 70, 386), (x + 70, 352))
        for shift in (12, 6, 0):
            d.box(x + shift, 308 - shift, 140, 38, BLUE, *(["Linear"] if shift == 0 else []))
        d.arrow((x + 70, 296), (x + 70, 262) if index == 1 else (x + 70, 280), tip=index == 1)
    d.arrow((130, 280), (220, 280), (220, 262))
    d.arrow((510, 280), (420, 280), (420, 262))
    for shift in (12, 6, 0):
        d.box(150 + shift, 200 - shift, 340, 56, ORANGE,
              *(["scaled dot-product attention", "of each head: [tokens, head_dim]"] if shift == 0 else []))
    d.text(514, 214, "h heads", anchor="start", weight="bold")
    d.arrow((320, 186), (320, 160))
    d.box(200, 120, 240, 38, GREY, "concatenate: [tokens, h · head_dim]", size=13)
    d.arrow((320, 120), (320, 94))
    d.box(250, 54, 140, 38, BLUE, "Linear")
    d.arrow((320, 54), (320, 30))
    d.text(320, 22, "[tokens, model]", size=12, fill=LINE)
    d.save("multi_head.svg")


def transformer():
    d = Drawing(790, 830, "The Transformer: encoder on the left, decoder on the right")

    def stack(x, top, sublayers, label):
        """Draws a frame of sublayers from the bottom up. Returns its bottom and the middle of each sublayer's box."""
        bottom = top + 116 * len(sublayers) + 14
        d.box(x - 34, top, 288, bottom - top, "#fafbfd", dash=True)
        d.text(x + 262, top + 20, label, anchor="start", weight="bold")
        middles = []
        for index, (name, fill) in enumerate(sublayers):
            y = bottom - 14 - 116 * index - 44
            d.box(x, y, 220, 40, fill, *name)
            d.arrow((x + 110, y), (x + 110, y - 16))
            d.box(x, y - 46, 220, 30, PURPLE, "add and LayerNorm", size=13)
            if index:
                d.arrow((x + 110, y + 70), (x + 110, y + 42))
            d.arrow((x + 110, y + 50), (x - 18, y + 50), (x - 18, y - 31), (x - 2, y - 31))
            middles.append(y + 20)
        return bottom, middles

    left, right = 60, 470
    attend, feed = (["multi-head", "self-attention"], ORANGE), (["feed-forward"], GREEN)
    bottom, _ = stack(left, 384, [attend, feed], "N ×")
    other, middles = stack(right, 268, [(["masked multi-head", "self-attention"], ORANGE),
                                        (["multi-head", "cross-attention"], ORANGE), feed], "N ×")
    for x, name, shape in ((left, "source ids", "[source tokens]"), (right, "target ids, after the start token",
                                                                     "[target tokens]")):
        d.arrow((x + 110, 678), (x + 110, bottom - 16))
        d.box(x, 680, 220, 40, BLUE, "embedding · √model", size=13)
        d.arrow((x + 110, 756), (x + 110, 722))
        d.text(x + 110, 774, name)
        d.text(x + 110, 792, shape, size=12, fill=LINE)
        d.arrow((x + 174, 662), (x + 112, 662))
        d.text(x + 178, 667, "+ positions", size=12, anchor="start", fill=LINE)
    top = 384
    d.arrow((left + 110, top + 24), (left + 110, 340), tip=False)
    d.arrow((left + 110, 340), (385, 340), (385, middles[1]), (right - 2, middles[1]))
    d.text(left + 118, 330, "memory [source tokens, model]", size=12, anchor="start", fill=LINE)
    d.arrow((right + 110, 292), (right + 110, 232))
    d.box(right, 190, 220, 40, BLUE, "Linear (shares the table)", size=13)
    d.arrow((right + 110, 190), (right + 110, 154))
    d.box(right, 112, 220, 40, GREY, "softmax")
    d.arrow((right + 110, 112), (right + 110, 78))
    d.text(right + 110, 50, "probabilities of the next token")
    d.text(right + 110, 68, "[target tokens, vocab]", size=12, fill=LINE)
    d.text(left + 110, 816, "encoder", weight="bold")
    d.text(right + 110, 816, "decoder", weight="bold")
    d.save("transformer.svg")


if __name__ == "__main__":
    attention()
    multi_head()
    transformer()
