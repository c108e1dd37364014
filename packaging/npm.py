"""npm packages: one with the client and the command, and one for each platform with its binary.

The first names the others as optional dependencies; npm installs the one whose `os`, `cpu` and `libc` fit. No package runs a script.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile

from common import NAME, SUMMARY, TOP, VERSION, archive

PLATFORMS = ("linux-x64", "linux-arm64", "darwin-arm64")


def platform(binary, its, folder):
    """The package of one platform."""
    name = f"{NAME}-{its.npm_os}-{its.npm_cpu}"
    about = {
        "name": name,
        "version": VERSION,
        "description": f"{SUMMARY}: the binary for {its.npm_os} on {its.npm_cpu}",
        "license": "Apache-2.0",
        "os": [its.npm_os],
        "cpu": [its.npm_cpu],
        **({"libc": ["glibc"]} if its.glibc else {}),
        "files": ["bin"],
    }
    files = [
        ("package/package.json", (json.dumps(about, indent=2) + "\n").encode(), 0o644),
        ("package/LICENSE", TOP / "LICENSE", 0o644),
        ("package/bin/quipu", binary, 0o755),
    ]
    archive(folder / f"{name}-{VERSION}.tgz", files)


def client(folder):
    """The package that people install: compiled, with the platforms' packages as optional dependencies."""
    tools = json.loads((TOP / "scripts/sdk/package.json").read_text())["dependencies"]
    with tempfile.TemporaryDirectory() as scratch:
        stage = pathlib.Path(scratch) / "package"
        shutil.copytree(TOP / "sdk/typescript", stage, ignore=shutil.ignore_patterns("node_modules", "dist"))
        shutil.copy(TOP / "LICENSE", stage)
        about = json.loads((stage / "package.json").read_text())
        needs = [f"{tool}@{tools[tool]}" for tool in ("typescript", "@types/node", "ai")]
        quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--no-package-lock"]
        subprocess.run(["npm", "install", *quiet, *needs], cwd=stage, check=True)
        subprocess.run(["node_modules/.bin/tsc"], cwd=stage, check=True)
        about["optionalDependencies"] = {f"{NAME}-{platform}": VERSION for platform in PLATFORMS}
        files = [("package/package.json", (json.dumps(about, indent=2) + "\n").encode(), 0o644)]
        paths = [stage / "LICENSE", stage / "README.md", *sorted((stage / "dist").iterdir())]
        files += [(f"package/{path.relative_to(stage)}", path, 0o644) for path in paths]
        archive(folder / f"{NAME}-{VERSION}.tgz", files)
