"""The Python package starts the binary that came with it: started.py ROOT, with no `quipu` on the PATH."""

import sys

import quipu

with quipu.start(sys.argv[1]) as server, quipu.Quipu(server.url) as memory:
    assert memory.health()["status"] == "ok"
print("python: quipu.start() finds the binary")
