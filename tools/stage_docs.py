#!/usr/bin/env python3
"""Prepares the documentation for mkdocs: writes FOLDER/mkdocs.yml and FOLDER/source.

Usage: stage_docs.py FOLDER. Copies the pages of docs/, and the pages of FOLDER/commands that `headlight help --reference`
wrote. The navigation follows docs/README.md, which must list every page. Links to project files become
links to copies with syntax highlighting. The title of an excerpt is its file name.
"""
import html
import os
import pathlib
import re
import shutil
import sys

import pygments
import pygments.formatters
import pygments.lexers

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^)#\s]*)(#[^)]*)?\)")
CODE_PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{name}</title><style>body {{ font: 14px sans-serif; margin: 1em; color-scheme: light dark; }} pre {{ overflow-x: auto; }}
{light} @media (prefers-color-scheme: dark) {{ {dark} }}</style><h1>{name}</h1>{code}</html>
"""


def style(name):
    return pygments.formatters.HtmlFormatter(style=name).get_style_defs(".highlight")


def write_code(path, out):
    """Writes a page with the source code of a file."""
    try:
        lexer = pygments.lexers.get_lexer_for_filename(path.name)
    except pygments.util.ClassNotFound:
        lexer = pygments.lexers.TextLexer()
    code = pygments.highlight(path.read_text(), lexer, pygments.formatters.HtmlFormatter(cssclass="highlight"))
    out.parent.mkdir(parents=True, exist_ok=True)
    name = html.escape(str(path.relative_to(ROOT)))
    out.write_text(CODE_PAGE.format(name=name, light=style("default"), dark=style("github-dark"), code=code))


def with_blank_lines(lines):
    """Adds an empty line before each list and table, as Python-Markdown requires."""
    in_fence = False
    for before, line in zip([""] + lines, lines):
        if line.startswith("```"):
            in_fence = not in_fence
        item = r"(-|\d+\.) "
        starts = re.match(item, line) and not re.match(item + "|  ", before) or line.startswith("|") and before[:1] != "|"
        if not in_fence and starts and before:
            yield ""
        yield line


class Stage:
    def __init__(self, folder):
        self.folder = folder
        self.source = folder / "source"
        self.problems = []

    def target(self, page, link):
        """Returns the target of a link in the site, or None if the link leads to a folder."""
        path = pathlib.Path(os.path.normpath((ROOT / page).parent / link))
        if not path.exists() or path.is_dir():
            return None
        path = path.relative_to(ROOT)
        if path.parts[0] == "docs" and path.suffix in (".md", ".png", ".svg"):
            return path.relative_to("docs")
        if len(path.parts) == 1 and path.suffix == ".md":
            self.add_page(path, pathlib.Path("project") / path.name)
            return pathlib.Path("project") / path.name
        out = pathlib.Path("code") / (str(path) + ".html")
        if not (self.source / out).exists():
            write_code(ROOT / path, self.source / out)
        return out

    def add_page(self, page, out):
        if (self.source / out).exists():
            return
        (self.source / out).parent.mkdir(parents=True, exist_ok=True)
        (self.source / out).touch()

        def relink(match):
            image, label, link, anchor = match[1], match[2], match[3], match[4] or ""
            if "://" in link or not link:
                return match[0]
            target = self.target(page, link)
            return f"{image}[{label}]({os.path.relpath(target, out.parent)}{anchor})" if target else label

        text = (ROOT / page).read_text()
        text = re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', text, flags=re.MULTILINE)
        # Adjust the paths of the README's images.
        text = text.replace("<details>", '<details markdown="1">').replace('"docs/images/', '"../images/')
        parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
        text = "".join(part if part.startswith("```") else LINK.sub(relink, part) for part in parts)
        (self.source / out).write_text("\n".join(with_blank_lines(text.split("\n"))))

    def commands(self):
        pages = [page.name for page in (self.folder / "commands").glob("*.md")]
        return ["reference/commands/" + page for page in sorted(pages, key=lambda page: (page != "README.md", page))]

    def generated(self, last_line):
        """Returns the entries that follow the pages of a section, given the last of them: after the pages of reference,
        those that are not in docs."""
        if ": reference/" not in last_line:
            return []
        return ["      - C++ classes: reference/classes.md", "      - Commands:",
                *(f"          - {page}" for page in self.commands())]

    def navigation(self):
        """Returns the sections and pages of docs/README.md as YAML."""
        lines, listed = ["nav:", "  - Documentation: README.md"], {"README.md"}
        for line in (DOCS / "README.md").read_text().split("\n"):
            if line.startswith("## "):
                lines += self.generated(lines[-1])
                lines.append(f"  - {line[3:]}:")
            elif match := re.match(r"(?:-|\d+\.) \[([^\]]*)\]\(([^)#]*\.md)\)", line):
                lines.append(f'      - "{match[1]}": {match[2]}')
                listed.add(match[2])
        pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
        self.problems += [f"docs/README.md does not list {page}" for page in sorted(pages - listed)]
        return "\n".join(lines) + "\n"

    def write(self):
        shutil.rmtree(self.source, ignore_errors=True)
        for page in sorted(DOCS.rglob("*.md")):
            self.add_page(page.relative_to(ROOT), page.relative_to(DOCS))
        self.add_page(pathlib.Path("README.md"), pathlib.Path("project/README.md"))
        shutil.copytree(DOCS / "images", self.source / "images")
        shutil.copytree(DOCS / "site", self.source / "site")
        shutil.copytree(DOCS / "overrides", self.folder / "overrides", dirs_exist_ok=True)
        shutil.copytree(self.folder / "commands", self.source / "reference" / "commands")
        (self.source / "reference" / "classes.md").write_text(
            "# C++ classes\n\nThe [classes and functions](../api/annotated.html) of the installed headers, by name, and the "
            "[headers](../api/files.html).\n")
        (self.folder / "mkdocs.yml").write_text((DOCS / "mkdocs.yml").read_text() + self.navigation())
        return self.problems


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if problems := Stage(pathlib.Path(sys.argv[1]).resolve()).write():
        sys.exit("\n".join(problems))
