"""llama.cpp's own server from a package of PyPI, for a machine on which it is not built.

    pip install xllamacpp
    python3 scripts/llama_server.py MODEL.gguf [--port 8080] [-np SLOTS] [-c TOKENS]

Serves until its input ends. Without -np it has what llama-server has without it: four slots that share their memory.
"""

import argparse
import sys

import xllamacpp


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("-np", type=int, metavar="SLOTS")
    parser.add_argument("-c", type=int, metavar="TOKENS", default=8192, help="of the whole server")
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path, params.port, params.n_ctx = options.model, options.port, options.c
    params.n_parallel, params.kv_unified = options.np or 4, options.np is None
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.use_jinja, params.endpoint_slots, params.warmup = True, True, False
    server = xllamacpp.Server(params)
    print(server.listening_address, xllamacpp.BUILD_INFO, flush=True)
    sys.stdin.read()


main()
