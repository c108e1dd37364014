// The protocol's own inspector, by its command line, against `quipu mcp` and `/mcp`:
// QUIPU_URL=http://127.0.0.1:4777 node scripts/sdk/inspector.mjs QUIPU ROOT, the binary and the root of that server
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const quipu = path.resolve(process.argv[2]);
const inspector = path.resolve(".tools/sdk/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const TOOLS = JSON.parse(readFileSync("crates/mcp/src/tools.json")).map((tool) => tool.name);
const home = mkdtempSync(path.join(tmpdir(), "quipu-inspector-"));
// Outside any repository, so that the agent and the command line share a project.
const run = (command, ...args) => execFileSync(command, args, { cwd: home, env: { ...process.env, HOME: home }, encoding: "utf8" });

function check(name, root, ...server) {
  const inspect = (method, ...args) =>
    JSON.parse(run(process.execPath, inspector, "--cli", "--method", method, ...args, "--format", "json", ...server)).result;
  const call = (tool, argument) => inspect("tools/call", "--tool-name", tool, "--tool-arg", argument);

  // It fails too if a model's provider would not take a schema.
  const { tools } = inspect("tools/list", "--strict");
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
  assert.match(call("remember", "text=My canoe is called Tilia.").structuredContent.id, /^m_/);
  const found = call("search", "query=what is my canoe called?");
  assert.match(found.content[0].text, /^<quipu-memory note=/);
  assert.ok(found.structuredContent.memories.some((memory) => memory.text === "[stored by a model]\n> My canoe is called Tilia."));

  run(quipu, "--root", root, "add", "--session", "move", "--flush", "I moved to Tromsø in March.");
  const { resources } = inspect("resources/list");
  assert.deepEqual(resources.slice(0, 2).map((resource) => resource.uri), ["quipu://core", "quipu://profile"]);
  const [core] = inspect("resources/read", "--uri", "quipu://core").contents;
  assert.ok(core.uri === "quipu://core" && core.text.includes("Tromsø"), core.text);
  const days = resources.map((resource) => resource.uri).filter((uri) => uri.startsWith("quipu://day/"));
  const [today] = inspect("resources/read", "--uri", days[0]).contents;
  assert.ok(/^<quipu-memory note=/.test(today.text) && today.text.includes("Tromsø"), today.text);

  const { prompts } = inspect("prompts/list");
  assert.deepEqual(prompts.map((prompt) => prompt.name), ["what_do_you_know_about_me", "review_what_you_believe", "save_this"]);
  const { messages } = inspect("prompts/get", "--prompt-name", "save_this", "--prompt-args", "text=I like tea.");
  assert.match(messages[0].content.text, /I like tea\./);
  console.log(`inspector, ${name}: well`);
}

try {
  const root = path.join(home, "root");
  check("stdio", root, "--", quipu, "mcp", "--root", root);
  check("HTTP", process.argv[3], "--server-url", `${process.env.QUIPU_URL}/mcp`, "--transport", "http");
} finally {
  rmSync(home, { recursive: true });
}
