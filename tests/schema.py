#!/usr/bin/env python3
"""schema.py SCHEMA FILE: whether a JSON file keeps a JSON Schema, with the standard library alone.

Knows what our schemas use: type, const, enum, pattern, minimum, required, properties, additionalProperties, items, minItems, maxItems, anyOf and
$ref within the file; any other word is an error, so that nothing passes because it was not understood."""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int}
PASSED_OVER = {"$schema", "$id", "title", "description", "$defs"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool))


def check(root, schema, value, path):
    """The first thing that is wrong, or None."""
    for word, want in schema.items():
        wrong = None
        if word in PASSED_OVER:
            continue
        if word == "$ref":
            target = root
            for part in want[2:].split("/"):
                target = target[part]
            wrong = check(root, target, value, path)
        elif word == "type":
            names = want if isinstance(want, list) else [want]
            wrong = None if any(is_type(value, n) for n in names) else f"{path}: is no {' or '.join(names)}"
        elif word == "const":
            wrong = None if value == want else f"{path}: is not {want!r}"
        elif word == "enum":
            wrong = None if value in want else f"{path}: {value!r} is none of {want}"
        elif word == "pattern":
            wrong = None if not isinstance(value, str) or re.search(want, value) else f"{path}: {value!r} does not match {want}"
        elif word == "minimum":
            wrong = None if not is_type(value, "integer") or value >= want else f"{path}: below {want}"
        elif word in ("minItems", "maxItems"):
            many = len(value) if isinstance(value, list) else want
            wrong = None if (many >= want if word == "minItems" else many <= want) else f"{path}: {many} items"
        elif word == "anyOf":
            wrong = None if any(check(root, s, value, path) is None for s in want) else f"{path}: fits none of its forms"
        elif word == "items":
            for i, item in enumerate(value if isinstance(value, list) else []):
                wrong = wrong or check(root, want, item, f"{path}[{i}]")
        elif word == "required":
            missing = [k for k in want if isinstance(value, dict) and k not in value]
            wrong = f"{path}: lacks {missing[0]}" if missing else None
        elif word == "properties":
            for k, s in want.items():
                if isinstance(value, dict) and k in value:
                    wrong = wrong or check(root, s, value[k], f"{path}.{k}")
        elif word == "additionalProperties":
            extra = [k for k in value if k not in schema.get("properties", {})] if isinstance(value, dict) and want is False else []
            wrong = f"{path}: {extra[0]} is not in the schema" if extra else None
        else:
            wrong = f"{path}: schema.py does not know `{word}`"
        if wrong:
            return wrong
    return None


def main():
    schema, value = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:3])
    wrong = check(schema, schema, value, "$")
    print(wrong or "valid")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
