"""A server of one's own."""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import select
import shutil
import subprocess
from typing import Sequence

import httpx

from ._http import QuipuError

# The shell reads until this process closes the pipe, also if it is killed; then it ends the server.
GUARD = '"$@" & exec >&-; read -r _; kill $! 2>/dev/null; wait $!'


class Server:
    """A running server. It ends with `close`, with the block of a `with`, or with this process."""

    def __init__(self, process: subprocess.Popen[bytes], url: str):
        self.url = url
        self._process = process
        atexit.register(self.close)

    def close(self) -> None:
        atexit.unregister(self.close)
        _end(self._process)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(
    root: str | os.PathLike[str] | None = None,
    *,
    binary: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
    timeout: float = 30.0,
) -> Server:
    """Runs `quipu serve` on a free port of this machine and returns when it answers.

    `root` is the data folder; without it the binary's own default. `binary` defaults to the one that was installed with this package,
    else to `quipu` on the `PATH`. `arguments` are further arguments of `quipu serve`.
    """
    command = [str(binary or _binary()), "serve", "--listen", "127.0.0.1:0", *arguments]
    if root is not None:
        command += ["--root", os.fspath(root)]
    guarded = ["sh", "-c", GUARD, "quipu", *command]
    process = subprocess.Popen(guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        url = _listening(process, timeout)
        httpx.get(f"{url}/health/live", trust_env=False, timeout=timeout)
    except BaseException as error:
        _end(process)
        if isinstance(error, httpx.TransportError):
            raise QuipuError("NOT_STARTED", f"the server does not answer: {error}") from error
        raise
    return Server(process, url)


def _listening(process: subprocess.Popen[bytes], timeout: float) -> str:
    assert process.stdout
    ready, _, _ = select.select([process.stdout], [], [], timeout)
    line = process.stdout.readline() if ready else b""
    # serving ROOT on URL
    _, found, url = line.decode().strip().rpartition(" on ")
    if not found:
        raise QuipuError("NOT_STARTED", "`quipu serve` does not listen: standard error has the reason")
    return url


def _binary() -> str:
    found = _packaged() or shutil.which("quipu")
    if not found:
        raise QuipuError("NOT_STARTED", "there is no `quipu` on the PATH: install it, or name it with `binary`")
    return found


def _packaged() -> str | None:
    """The binary that the wheel of this platform put beside its other scripts, wherever that is."""
    try:
        files = importlib.metadata.files("quipu-memory") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    scripts = (str(file.locate()) for file in files if file.name == "quipu")
    return next(filter(os.path.isfile, scripts), None)


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    process.stdin.close()
    process.wait()
    process.stdout.close()
