"""Writes what follows from something else: `types.py` from docs/openapi.json, `_sync.py` from `_async.py`.

    python3 sdk/python/generate.py [--check]    # --check writes nothing and fails if a file is not up to date
"""

import json
import keyword
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE / "src" / "quipu"
DOCUMENT = HERE.parent.parent / "docs" / "openapi.json"

HEAD = '''"""The requests and answers of the API. Written by `generate.py`: change `docs/openapi.json` instead."""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
# `add` gives a message a time if it has none.
FILLED = {("MessageItem", "timestamp")}
# From the asynchronous client to the other one.
SYNC = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bimport asyncio\b", "import time"),
    (r"\b_?Async(?=[A-Z])", lambda found: "_" if found[0].startswith("_") else ""),
    (r"\b__a(enter|exit)__", r"__\1__"),
    (r"\baclose\b", "close"),
]


def kind(schema):
    """The type of a value, as text."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "enum" in schema:
        return f"Literal[{', '.join(map(json.dumps, schema['enum']))}]"
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return f"Union[{', '.join(kind(part) for part in schema[key])}]"
    names = schema.get("type")
    if isinstance(names, list):
        return f"Union[{', '.join(kind(schema | {'type': name}) for name in names)}]"
    if names == "array":
        return f"List[{kind(schema['items'])}]"
    if names == "object":
        return "Dict[str, Any]"
    return PLAIN.get(names, "Any")


def words(text, indent):
    text = " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")
    end = " " if text.endswith('"') else ""
    return f'{indent}"""{text}{end}"""\n' if text else ""


def typed(name, schema, fields, required):
    """One `TypedDict`. A field that is a word of the language needs the other way to write it."""
    def wrapped(field):
        must = field in required and (name, field) not in FILLED
        return kind(fields[field]) if must else f"NotRequired[{kind(fields[field])}]"

    if any(keyword.iskeyword(field) for field in fields):
        items = ", ".join(f'"{field}": "{wrapped(field)}"' for field in fields)
        return f'{name} = TypedDict("{name}", {{{items}}})\n'
    text = f"class {name}(TypedDict):\n{words(schema.get('description', ''), '    ')}"
    for field, about in fields.items():
        text += f"\n    {field}: {wrapped(field)}\n{words(about.get('description', ''), '    ')}"
    return text if fields else f"{text}\n    pass\n"


def types(document):
    classes, aliases = [], []
    for name, schema in document["components"]["schemas"].items():
        if name.startswith("Envelope_"):
            continue
        if "properties" in schema:
            classes.append(typed(name, schema, schema["properties"], schema.get("required", [])))
        else:
            # An alias is evaluated when the module is loaded, maybe before what it names.
            quoted = re.sub(r"\b([A-Z]\w*Item)\b", r'"\1"', kind(schema))
            aliases.append(f"{name} = {quoted}\n{words(schema.get('description', ''), '')}")
    for item in document["paths"].values():
        for operation in item.values():
            query = {one["name"]: one["schema"] | one for one in operation.get("parameters", []) if one["in"] == "query"}
            required = [field for field in query if query[field].get("required")]
            if query:
                name = "".join(word.capitalize() for word in operation["operationId"].split("_"))
                about = {"description": f"The parameters of `{operation['operationId']}`."}
                classes.append(typed(f"{name}Query", about, query, required))
    return HEAD + "\n" + "\n".join(aliases) + "\n\n" + "\n\n".join(classes)


def sync(text):
    for pattern, replacement in SYNC:
        text = re.sub(pattern, replacement, text)
    head, rest = text.split("\n", 1)
    return f"# Written by `generate.py`: change `_async.py` instead.\n{head}\n{rest}"


def main(check):
    document = json.loads(DOCUMENT.read_text())
    made = {"types.py": types(document), "_sync.py": sync((PACKAGE / "_async.py").read_text())}
    stale = [name for name, text in made.items() if not (PACKAGE / name).exists() or (PACKAGE / name).read_text() != text]
    if check and stale:
        sys.exit(f"{', '.join(stale)}: not up to date, run `python3 sdk/python/generate.py`")
    for name in stale:
        (PACKAGE / name).write_text(made[name])


if __name__ == "__main__":
    main(sys.argv[1:] == ["--check"])
