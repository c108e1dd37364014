"""The bill of materials of the binary: CycloneDX 1.6, from Cargo's own resolution."""

import json
import re
import subprocess

from common import SUMMARY, TARGETS, TOP, VERSION

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def write(path):
    """Only what is linked into `quipu`, not what builds or tests it."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += [word for triple in TARGETS.values() for word in ("--filter-platform", triple)]
    about = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=TOP).stdout)
    packages = {package["id"]: package for package in about["packages"]}
    nodes = {node["id"]: node for node in about["resolve"]["nodes"]}
    root = next(package["id"] for package in about["packages"] if package["name"] == "quipu")
    uses = {}
    waiting = [root]
    while waiting:
        package = waiting.pop()
        if package not in uses:
            uses[package] = sorted(set(linked(nodes[package])))
            waiting += uses[package]
    locked = re.findall(r'^name = "(.*)"\nversion = "(.*)"\nsource = .*\nchecksum = "(.*)"$', (TOP / "Cargo.lock").read_text(), re.MULTILINE)
    sums = {(name, version): checksum for name, version, checksum in locked}
    refs = {package: purl(packages[package]) for package in uses}
    parts = [component(packages[package], refs[package], sums) for package in sorted(uses, key=refs.get) if package != root]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": refs[root],
                "name": "quipu",
                "version": VERSION,
                "description": SUMMARY,
                "licenses": [{"expression": "Apache-2.0"}],
                "purl": refs[root],
            }
        },
        "components": parts,
        "dependencies": [
            {"ref": refs[package], "dependsOn": sorted(refs[other] for other in uses[package])} for package in sorted(uses, key=refs.get)
        ],
    }
    path.write_text(json.dumps(bill, indent=1) + "\n")


def linked(node):
    for dependency in node["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            yield dependency["pkg"]


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, ref, sums):
    part = {"type": "library", "bom-ref": ref, "name": package["name"], "version": package["version"], "purl": ref}
    if package["license"]:
        # An older way to say "or".
        part["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    if package["source"] == REGISTRY and (checksum := sums.get((package["name"], package["version"]))):
        part["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return part
