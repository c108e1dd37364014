#!/usr/bin/env node
/** The command: runs the binary of this platform with the same arguments, and ends as it ends. */

import { spawn } from "node:child_process";
import { constants } from "node:os";

import { packaged } from "./binary.js";

const binary = packaged();
if (binary === undefined) {
  console.error(`error: no binary for ${process.platform} on ${process.arch}`);
  console.error("hint: install the package without --omit=optional, on Linux (glibc) or macOS");
  process.exit(1);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
// A terminal interrupts both; whoever stops this process means the other one.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: cannot run ${binary}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? "SIGTERM"]));
