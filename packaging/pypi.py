"""Wheels: the client alone for every machine, and the client with the binary for one.

pip takes the second where it fits, and the first elsewhere; both are one project with one version.
"""

import base64
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import time
import zipfile

from common import EPOCH, NAME, TOP, VERSION

DIST = f"{NAME.replace('-', '_')}-{VERSION}"
DATE = max(time.gmtime(EPOCH)[:6], (1980, 1, 1, 0, 0, 0))


def client(folder):
    """The wheel without a binary."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--wheel-dir", folder, TOP / "sdk" / "python"], check=True)
    return folder / f"{DIST}-py3-none-any.whl"


def wheel(binary, its, folder):
    """The same with the binary among the scripts, for one platform."""
    with tempfile.TemporaryDirectory() as scratch:
        source = client(pathlib.Path(scratch))
        packed = folder / f"{DIST}-py3-none-{its.wheel}.whl"
        info = f"{DIST}.dist-info"
        records = []
        with zipfile.ZipFile(source) as pure, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
            for name in pure.namelist():
                content = pure.read(name)
                if name.endswith("/") or name == f"{info}/RECORD":
                    continue
                if name == f"{info}/WHEEL":
                    text = content.decode().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
                    content = text.replace("Tag: py3-none-any", f"Tag: py3-none-{its.wheel}").encode()
                records.append(put(out, name, content, 0o644))
            records.append(put(out, f"{DIST}.data/scripts/quipu", binary.read_bytes(), 0o755))
            records.append(put(out, f"{info}/licenses/LICENSE", (TOP / "LICENSE").read_bytes(), 0o644))
            records.append(f"{info}/RECORD,,\n")
            put(out, f"{info}/RECORD", "".join(records).encode(), 0o644)


def put(out, name, content, mode):
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    out.writestr(entry, content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"
