// The npm package starts the binary that came with it: node started.mjs ROOT, with no `quipu` on the PATH.
import assert from "node:assert/strict";
import { Quipu } from "quipu-memory";
import { start } from "quipu-memory/start";

const server = await start({ root: process.argv[2] });
assert.equal((await new Quipu({ url: server.url }).health()).status, "ok");
await server.close();
console.log("npm: start() finds the binary");
