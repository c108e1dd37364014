"""The Debian package: binary, service, manual pages, completions. It starts nothing, and a purge keeps the memory."""

import gzip
import pathlib
import subprocess
import tempfile

from common import EPOCH, SUMMARY, TOP, VERSION

# Debian has its own folders for some of what the archive has.
PLACES = {"zsh/site-functions/": "zsh/vendor-completions/"}


def package(binary, its, share, folder):
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "tree"
        put(tree / "usr/bin/quipu", binary.read_bytes(), 0o755)
        put(tree / "usr/lib/systemd/system/quipu.service", (TOP / "packaging/systemd/quipu.service").read_bytes())
        for path, content in share:
            for ours, debians in PLACES.items():
                path = path.replace(ours, debians)
            if path.startswith("man/"):
                path, content = f"{path}.gz", gzip.compress(content, mtime=EPOCH)
            put(tree / "usr/share" / path, content)
        put(tree / "usr/share/doc/quipu/copyright", copyright_file())
        put(tree / "usr/share/doc/quipu/NEWS.gz", gzip.compress((TOP / "CHANGELOG.md").read_bytes(), mtime=EPOCH))
        size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())
        control = (TOP / "packaging/debian/control").read_text()
        for key, value in {"VERSION": VERSION, "ARCH": its.deb, "GLIBC": its.glibc, "SIZE": size // 1024, "SUMMARY": SUMMARY}.items():
            control = control.replace(f"@{key}@", str(value))
        put(tree / "DEBIAN/control", control.encode())
        for script in ("postinst", "prerm", "postrm"):
            put(tree / "DEBIAN" / script, (TOP / "packaging/debian" / script).read_bytes(), 0o755)
        # `usr` and all below it must not keep the umask of whoever builds.
        for path in tree.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        tree.chmod(0o755)
        out = folder / f"quipu_{VERSION}_{its.deb}.deb"
        command = ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", tree, out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={"SOURCE_DATE_EPOCH": str(EPOCH), "PATH": "/usr/bin:/bin"})


def put(path, content, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def copyright_file():
    head = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nCopyright: the authors of Quipu\n"
    own = "License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n"
    _, _, others = (TOP / "LICENSE").read_text().partition("\n---\n")
    lines = "".join(f" {line or '.'}\n" for line in others.strip().splitlines())
    return f"{head}{own}Comment:\n{lines}".encode()
