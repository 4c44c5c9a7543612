#!/usr/bin/env python3
"""Writes headlight/io/transformers_config_keys.cc: the keys of config.json that any class of configurations in
Transformers knows, and those of tokenizer_config.json that any class of tokenizers knows. Made with 5.24.0 and, for keys that version 5 dropped, 4.57.3:

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


def tokenizer_keys_of(tree):
    """Arguments of __init__ of tokenizers, and what is taken from kwargs."""
    keys = set()
    for definition in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        if not any(part in definition.name for part in ("Tokenizer", "Backend", "SpecialTokensMixin")):
            continue
        for item in definition.body:
            if not isinstance(item, ast.FunctionDef) or item.name not in ("__init__", "_from_pretrained"):
                continue
            if item.name == "__init__":
                keys |= {argument.arg for argument in item.args.args + item.args.kwonlyargs} - {"self"}
            for node in ast.walk(item):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    of = node.func.value
                    if node.func.attr in ("pop", "get") and isinstance(of, ast.Name) and of.id.endswith("kwargs"):
                        keys |= constant_strings(node.args[:1])
    return keys


def keys_in(files, keys_of_tree):
    keys = set()
    for package in sys.argv[1:]:
        for path in sorted(pathlib.Path(package).rglob(files)):
            keys |= keys_of_tree(ast.parse(path.read_text()))
    return {key for key in keys if key.isidentifier() and not key.startswith("_")}


def lines_of(keys):
    lines, line = [], ""
    for key in sorted(keys):
        if len(line) + len(key) > 108:
            lines.append(line)
            line = ""
        line += key + " "
    lines.append(line)
    return "\n".join(f'    "{line}"' for line in lines)


keys = keys_in("configuration_*.py", keys_of)
assert {"rope_scaling", "num_hidden_layers", "pruned_heads", "is_decoder", "position_embedding_type"} <= keys, len(keys)
tokenizer_keys = keys_in("tokenization_*.py", tokenizer_keys_of)
assert {"do_lower_case", "never_split", "sp_model_kwargs", "padding_side", "legacy"} <= tokenizer_keys, tokenizer_keys
OUT.write_text(f'''// Made by tools/make_config_keys.py of Transformers 5.24.0 and 4.57.3; do not edit.
#include "headlight/io/transformers_config_keys.h"

namespace headlight {{

// In the order of their bytes, each with a space behind it. {len(keys)} keys.
const std::string_view kTransformersConfigKeys =
{lines_of(keys)};

// In the same form. {len(tokenizer_keys)} keys.
const std::string_view kTransformersTokenizerKeys =
{lines_of(tokenizer_keys)};

}}  // namespace headlight
''')
