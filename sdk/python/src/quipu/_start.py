"""A server of one's own."""

from __future__ import annotations

import atexit
import os
import pathlib
import select
import shutil
import subprocess
import sysconfig
import time
from typing import Sequence

import httpx

from ._http import QuipuError

LOOK_SECONDS = 0.05
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
    """Runs `quipu serve` on a free port of this machine and returns when it can serve.

    `root` is the data folder; without it the binary's own default. `binary` defaults to the one that was installed with this package,
    else to `quipu` on the `PATH`. `arguments` are further arguments of `quipu serve`.
    """
    command = [str(binary or _binary()), "serve", "--listen", "127.0.0.1:0", *arguments]
    if root is not None:
        command += ["--root", os.fspath(root)]
    guarded = ["sh", "-c", GUARD, "quipu", *command]
    process = subprocess.Popen(guarded, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    end = time.monotonic() + timeout
    try:
        url = _listening(process, timeout)
        while httpx.get(f"{url}/health/ready", trust_env=False).status_code == 503:
            if time.monotonic() > end:
                raise QuipuError("NOT_STARTED", f"the server is not ready after {timeout} s: run `quipu status`")
            time.sleep(LOOK_SECONDS)
    except BaseException:
        _end(process)
        raise
    return Server(process, url)


def _listening(process: subprocess.Popen[bytes], timeout: float) -> str:
    assert process.stdout
    ready, _, _ = select.select([process.stdout], [], [], timeout)
    line = process.stdout.readline() if ready else b""
    if not line:
        raise QuipuError("NOT_STARTED", "`quipu serve` does not listen: standard error has the reason")
    # serving ROOT on URL
    return line.decode().split()[-1]


def _binary() -> str:
    packaged = pathlib.Path(sysconfig.get_path("scripts")) / "quipu"
    found = str(packaged) if packaged.exists() else shutil.which("quipu")
    if not found:
        raise QuipuError("NOT_STARTED", "there is no `quipu` on the PATH: install it, or name it with `binary`")
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    process.stdin.close()
    process.wait()
    process.stdout.close()
