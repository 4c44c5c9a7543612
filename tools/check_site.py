#!/usr/bin/env python3
"""Checks a built site: the targets of links and anchors must exist, and no page may need the network.

Usage: check_site.py FOLDER. The pages of api/, which Doxygen writes, and of mathjax/ are only checked as link targets.
"""
import html.parser
import os
import pathlib
import sys
import tempfile
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names |= {values[key] for key in ("id", "name") if values.get(key)}
        if values.get("href") and tag == "a":
            self.links.append(values["href"])
        elif values.get("href") and values.get("rel") != "canonical":
            self.loaded.append(values["href"])
        self.loaded += [values[key] for key in ("src", "srcset") if values.get(key)]


def problems_of(folder):
    pages = {path: Page(path.read_text()) for path in folder.rglob("*.html") if "mathjax" not in path.parts}
    for path, page in sorted(pages.items()):
        at = path.relative_to(folder)
        if at.parts[0] == "api" or at.name == "404.html":
            continue
        for link in page.loaded:
            if urllib.parse.urlsplit(link).netloc:
                yield f"{at}: loads {link}"
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path))) if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{at}: nothing at {link}"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].names:
                yield f"{at}: no anchor {link}"


def check_planted():
    """Checks that exactly the errors in a test page are found."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.html").write_text('<h1 id="x">A</h1><a href="b.html#y">1</a><a href="#x">2</a><a href="https://arxiv.org">3</a>')
        (folder / "b.html").write_text('<p id="y"><a href="a.html#z">1</a><a href="c.html">2</a><img src="https://a.org/b.png">')
        found = list(problems_of(folder))
    expected = ["b.html: loads https://a.org/b.png", "b.html: no anchor a.html#z", "b.html: nothing at c.html"]
    assert found == expected, found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    check_planted()
    if found := list(problems_of(pathlib.Path(sys.argv[1]).resolve())):
        sys.exit("\n".join(found))
