"""What every packager needs to know: the version, the machine that a binary is for, and files that are the same each time they are made."""

import gzip
import io
import os
import pathlib
import re
import struct
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass

TOP = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.search(r'^version = "(.*)"$', (TOP / "Cargo.toml").read_text(), re.MULTILINE)[1]
# The name in PyPI and npm, where `quipu` is somebody else's.
NAME = "quipu-memory"
SUMMARY = "Memory and context for LLM agents"
# Time of every file, so that equal files make equal packages.
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "1700000000"))

# The machines of a release, by their names in the Homebrew formula.
TARGETS = {"LINUX_X64": "x86_64-unknown-linux-gnu", "LINUX_ARM64": "aarch64-unknown-linux-gnu", "MACOS_ARM64": "aarch64-apple-darwin"}

# What a minimal container has. A binary that needs another library does not start there.
LIBRARIES = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libgcc_s.so.1"}
MACHINES = {62: "x86_64", 183: "aarch64"}


@dataclass(frozen=True)
class Target:
    """Names of one machine in each registry."""

    triple: str
    wheel: str
    npm_os: str
    npm_cpu: str
    # Debian's architecture and the lowest C library; none where there is no package.
    deb: str | None = None
    glibc: str | None = None


def target(binary):
    """The target that a binary was built for; an error if it would not start on a plain system."""
    head = pathlib.Path(binary).open("rb").read(4096)
    if head[:4] == b"\x7fELF":
        return linux(binary, MACHINES[struct.unpack_from("<H", head, 18)[0]])
    if head[:4] == b"\xcf\xfa\xed\xfe":
        return macos(head)
    raise SystemExit(f"{binary}: neither an ELF nor a Mach-O binary of 64 bits")


def linux(binary, machine):
    dump = subprocess.run(["objdump", "-pT", binary], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED +(\S+)", dump))
    if needed - LIBRARIES:
        raise SystemExit(f"{binary}: needs {', '.join(sorted(needed - LIBRARIES))}, which a plain system may not have")
    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", dump)}
    major, minor, *_ = max(versions)
    cpu = {"x86_64": "x64", "aarch64": "arm64"}[machine]
    deb = {"x86_64": "amd64", "aarch64": "arm64"}[machine]
    wheel = f"manylinux_{major}_{minor}_{machine}"
    return Target(f"{machine}-unknown-linux-gnu", wheel, "linux", cpu, deb, f"{major}.{minor}")


def macos(head):
    machine = {0x01000007: "x86_64", 0x0100000C: "arm64"}[struct.unpack_from("<I", head, 4)[0]]
    at, oldest = 32, (11, 0)
    for _ in range(struct.unpack_from("<I", head, 16)[0]):
        command, size = struct.unpack_from("<II", head, at)
        if command == 0x32:  # LC_BUILD_VERSION
            packed = struct.unpack_from("<I", head, at + 12)[0]
            oldest = (packed >> 16, packed >> 8 & 0xFF)
        at += size
        if at + 16 > len(head):
            break
    triple = "aarch64" if machine == "arm64" else machine
    cpu = {"x86_64": "x64", "arm64": "arm64"}[machine]
    return Target(f"{triple}-apple-darwin", f"macosx_{oldest[0]}_{oldest[1]}_{machine}", "darwin", cpu)


def archive(path, files):
    """A tar.gz of (name, bytes or path, mode), the same bytes from the same files."""
    with path.open("wb") as out, gzip.GzipFile("", "wb", fileobj=out, mtime=EPOCH) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name, content, mode in files:
                entry = tarfile.TarInfo(name)
                entry.mode, entry.mtime = mode, EPOCH
                if isinstance(content, bytes):
                    entry.size = len(content)
                    tar.addfile(entry, io.BytesIO(content))
                else:
                    entry.size = content.stat().st_size
                    with content.open("rb") as source:
                        tar.addfile(entry, source)


def extras(binary):
    """Manual pages and completions, as the binary itself writes them: a list of (path below share/, bytes)."""
    def said(*arguments):
        return subprocess.run([binary, *arguments], check=True, capture_output=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        said("man", folder)
        pages = [(f"man/man1/{page.name}", page.read_bytes()) for page in sorted(pathlib.Path(folder).iterdir())]
    completions = [
        ("bash-completion/completions/quipu", said("completions", "bash")),
        ("zsh/site-functions/_quipu", said("completions", "zsh")),
        ("fish/vendor_completions.d/quipu.fish", said("completions", "fish")),
    ]
    return pages + completions
