"""What is watched from outside a system: its network, its files, its memory and its processes."""

import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

INSIDE = "COMPARE_ISOLATED"


def isolate(allowed):
    """Runs this program again in a network namespace with loopback alone. Tells whether it is in one."""
    if os.environ.get(INSIDE):
        with socket.socket() as control:
            # Brings `lo` up: SIOCSIFFLAGS with IFF_UP | IFF_RUNNING.
            fcntl.ioctl(control, 0x8914, struct.pack("16sh", b"lo", 0x41))
        return True
    if allowed:
        return False
    inside = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        sys.exit("no network namespace can be made here; run with --network, or as root")
    os.environ[INSIDE] = "1"
    os.execvp(inside[0], [*inside, sys.executable, *sys.argv])


class Proxy:
    """An HTTP proxy that refuses everything and remembers which hosts were asked for."""

    def __init__(self):
        self.asked = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.refuse, daemon=True).start()

    def refuse(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                connection.settimeout(2)
                try:
                    words = connection.recv(4096).decode("latin-1").split()
                    if len(words) > 1:
                        self.asked.add(words[1].removeprefix("http://").split("/")[0].split(":")[0])
                    connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                except OSError:
                    pass

    def variables(self):
        address = f"http://127.0.0.1:{self.port}"
        proxies = {name: address for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY")}
        return proxies | {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def size(folder, program):
    """Bytes that the folder takes on the disk, without a program that a system put there."""
    memory = (path for path in files(folder) if not program or not path.is_relative_to(folder / program))
    return sum(path.stat().st_blocks * 512 for path in memory)


def readable(folder, texts):
    """How many of the texts stand in a file that is text from end to end, ignoring line breaks, quotation marks of Markdown and comments."""
    known = []
    for path in files(folder):
        if path.suffix != ".log":
            try:
                text = re.sub(r"<!--.*?-->|\\|^> ", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
                known.append(" ".join(text.split()))
            except (UnicodeDecodeError, OSError):
                pass
    whole = "\n".join(text for text in known if "\0" not in text)
    return sum(" ".join(text.split()) in whole for text in texts)


def resident(process):
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def end_children():
    """Ends every process below this one; all of them were started by this run."""
    while True:
        mine = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not mine:
            return
        for process in map(int, mine):
            try:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
