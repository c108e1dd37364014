"""Runs each example of the packages' READMEs and compares what it prints with the block of text below it.

    python3 scripts/sdk/examples.py QUIPU     # the path of a binary; the packages are installed in .tools/sdk
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from clients import served
from model import Model

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = TOP / ".tools" / "sdk"
EXAMPLE = re.compile(r"^```(python|ts)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
TIMEOUT_SECONDS = 60


def examples(path):
    text = path.read_text()
    for found in EXAMPLE.finditer(text):
        yield text[: found.start()].count("\n") + 1, found[2], found[3]


def compiled(folder, codes):
    """TypeScript is checked against the types of the package; Node then runs what the compiler made."""
    for number, code in enumerate(codes):
        (folder / f"example{number}.mts").write_text(code)
    options = ["--strict", "--skipLibCheck", "--target", "es2023", "--module", "nodenext", "--types", "node"]
    subprocess.run([TOOLS / "node_modules/.bin/tsc", *options, *sorted(folder.glob("*.mts"))], check=True, cwd=folder)
    return [["node", folder / f"example{number}.mjs"] for number in range(len(codes))]


def main(quipu):
    failed = False
    with Model() as model, tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory(dir=TOOLS) as beside:
        for language in ("python", "typescript"):
            path = TOP / "sdk" / language / "README.md"
            lines, codes, expected = zip(*examples(path))
            if language == "python":
                commands = [[TOOLS / "venv/bin/python", "-c", code] for code in codes]
            else:
                commands = compiled(pathlib.Path(beside), codes)
            with served(quipu, model.url) as url:
                env = {
                    "HOME": home,
                    "OPENAI_AGENTS_DISABLE_TRACING": "1",
                    "OPENAI_API_KEY": "none",
                    "OPENAI_BASE_URL": f"{model.url}/v1",
                    "PATH": f"{pathlib.Path(quipu).resolve().parent}:{os.environ['PATH']}",
                    "QUIPU_URL": url,
                }
                for line, command, text in zip(lines, commands, expected):
                    done = subprocess.run(command, cwd=home, env=env, text=True, capture_output=True, timeout=TIMEOUT_SECONDS)
                    if done.returncode or text not in (None, done.stdout):
                        failed = True
                        print(f"{path.relative_to(TOP)}:{line}: exit {done.returncode}\n{done.stdout}{done.stderr}")
            print(f"{path.relative_to(TOP)}: {len(codes)} examples")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
