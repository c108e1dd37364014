"""Makes every package of one binary: python3 packaging/build.py BINARY FOLDER

A wheel, two npm packages, an archive, and on Linux a Debian package. `packaging/release.py` adds what is made once for all machines.
"""

import pathlib
import subprocess
import sys

import deb
import npm
import pypi
from common import TOP, VERSION, archive, extras, target


def main(binary, folder):
    binary, folder = pathlib.Path(binary).resolve(), pathlib.Path(folder).resolve()
    said = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()
    if said != ["quipu", VERSION]:
        raise SystemExit(f"{binary} is {' '.join(said)}, and Cargo.toml has {VERSION}")
    folder.mkdir(parents=True, exist_ok=True)
    its = target(binary)
    share = extras(binary)
    name = f"quipu-{VERSION}-{its.triple}"
    files = [(f"{name}/quipu", binary, 0o755)]
    files += [(f"{name}/{page}", TOP / page, 0o644) for page in ("LICENSE", "README.md", "CHANGELOG.md")]
    files += [(f"{name}/share/{path}", content, 0o644) for path, content in share]
    archive(folder / f"{name}.tar.gz", files)
    pypi.wheel(binary, its, folder)
    npm.platform(binary, its, folder)
    if its.deb:
        deb.package(binary, its, share, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
