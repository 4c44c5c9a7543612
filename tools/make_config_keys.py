#!/usr/bin/env python3
"""Writes headlight/io/transformers_config_keys.cc: the keys of config.json that any class of configurations in
Transformers knows. Made with 5.24.0 and, for keys that version 5 dropped, 4.57.3:

    tools/make_config_keys.py SITE_PACKAGES_OF_5/transformers UNPACKED_WHEEL_OF_4/transformers
"""

import ast
import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "headlight" / "io" / "transformers_config_keys.cc"


def constant_strings(nodes):
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def keys_of(tree):
    """Fields, arguments of __init__, attributes that it sets, keys of attribute_map, and what is taken from kwargs."""
    keys = set()
    for definition in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for item in definition.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                keys.add(item.target.id)
            if isinstance(item, ast.Assign) and isinstance(item.value, ast.Dict):
                if any(isinstance(target, ast.Name) and target.id == "attribute_map" for target in item.targets):
                    keys |= constant_strings(item.value.keys)
            if isinstance(item, ast.FunctionDef) and item.name in ("__init__", "__post_init__"):
                arguments = item.args.posonlyargs + item.args.args + item.args.kwonlyargs
                keys |= {argument.arg for argument in arguments} - {"self"}
                for node in ast.walk(item):
                    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                        if isinstance(node.value, ast.Name) and node.value.id == "self":
                            keys.add(node.attr)
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                        of = node.func.value
                        if node.func.attr in ("pop", "get") and isinstance(of, ast.Name) and of.id == "kwargs":
                            keys |= constant_strings(node.args[:1])
    return keys


keys = set()
for package in sys.argv[1:]:
    for path in sorted(pathlib.Path(package).rglob("configuration_*.py")):
        keys |= keys_of(ast.parse(path.read_text()))
keys = {key for key in keys if key.isidentifier() and not key.startswith("_")}
assert {"rope_scaling", "num_hidden_layers", "pruned_heads", "is_decoder", "position_embedding_type"} <= keys, len(keys)

lines, line = [], ""
for key in sorted(keys):
    if len(line) + len(key) > 108:
        lines.append(line)
        line = ""
    line += key + " "
lines.append(line)
text = "\n".join(f'    "{line}"' for line in lines)
OUT.write_text(f'''// Made by tools/make_config_keys.py of Transformers 5.24.0 and 4.57.3; do not edit.
#include "headlight/io/transformers_config_keys.h"

namespace headlight {{

// In the order of their bytes, each with a space behind it. {len(keys)} keys.
const std::string_view kTransformersConfigKeys =
{text};

}}  // namespace headlight
''')
