"""Makes what a release has once: python3 packaging/release.py FOLDER [OWNER/REPOSITORY]

The clients' packages without a binary, the bill of materials, and the checksums of all files in the folder. With a repository also the Homebrew
formula, from the archives in the folder.
"""

import hashlib
import pathlib
import sys

import npm
import pypi
import sbom
from common import SUMMARY, TARGETS, TOP, VERSION


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def formula(folder, repository):
    text = (TOP / "packaging/homebrew/quipu.rb").read_text()
    values = {"VERSION": VERSION, "SUMMARY": SUMMARY, "REPOSITORY": repository}
    for key, triple in TARGETS.items():
        values[key] = digest(folder / f"quipu-{VERSION}-{triple}.tar.gz")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    (folder / "quipu.rb").write_text(text)


def main(folder, repository=None):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    pypi.client(folder)
    npm.client(folder)
    sbom.write(folder / f"quipu-{VERSION}.cdx.json")
    if repository:
        formula(folder, repository)
    sums = folder / "SHA256SUMS"
    files = sorted(path for path in folder.iterdir() if path.is_file() and path != sums)
    sums.write_text("".join(f"{digest(path)}  {path.name}\n" for path in files))


if __name__ == "__main__":
    main(*sys.argv[1:])
