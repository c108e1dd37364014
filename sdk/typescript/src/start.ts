/** A server of one's own, for Node.js. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { packaged } from "./binary.js";
import { QuipuError } from "./index.js";

/** The shell reads until this process closes the pipe, also if it is killed; then it ends the server. */
const GUARD = '"$@" & exec >&-; read -r _; kill $! 2>/dev/null; wait $!';

export interface StartOptions {
  /** The data folder. Default: the binary's own. */
  root?: string;
  /** Default: the one that was installed with this package, else `quipu` on the `PATH`. */
  binary?: string;
  /** Further arguments of `quipu serve`. */
  arguments?: string[];
  /** Default: 30,000. */
  timeoutMilliseconds?: number;
}

/** A running server. It ends with `close`, at the end of an `await using` block, or with this process. */
export interface Server extends AsyncDisposable {
  url: string;
  close(): Promise<void>;
}

/** Runs `quipu serve` on a free port of this machine and returns when it answers. */
export async function start(options: StartOptions = {}): Promise<Server> {
  const { root, binary = packaged() ?? "quipu", timeoutMilliseconds = 30_000 } = options;
  const command = [binary, "serve", "--listen", "127.0.0.1:0", ...(options.arguments ?? [])];
  if (root !== undefined) command.push("--root", root);
  const child = spawn("sh", ["-c", GUARD, "quipu", ...command], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const close = async () => {
    child.ref();
    child.stdin.end();
    await ended;
  };
  const signal = AbortSignal.timeout(timeoutMilliseconds);
  try {
    const url = await listening(child.stdout, signal);
    await fetch(`${url}/health/live`, { signal });
    // The server keeps no program running.
    child.stdout.destroy();
    child.unref();
    (child.stdin as { unref?: () => void }).unref?.();
    return { url, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    const reason = error instanceof QuipuError ? error.message : `the server is not ready: ${error}`;
    throw new QuipuError("NOT_STARTED", reason, undefined, undefined, { cause: error });
  }
}

async function listening(output: NodeJS.ReadableStream, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: output });
  const none: [string] = [""];
  const [line] = (await Promise.race([once(lines, "line", { signal }), once(lines, "close").then(() => none)])) as [string];
  const url = line.split(" ").at(-1);
  if (!url) throw new QuipuError("NOT_STARTED", "`quipu serve` does not listen: standard error has the reason");
  return url;
}
