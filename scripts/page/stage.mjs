// A server with memories, conversations and documents, and a browser that looks at it.
//
// Owns: starting and ending both. Never: what is expected.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const tools = join(process.cwd(), ".tools/page/");
const require = createRequire(pathToFileURL(tools));
export const puppeteer = require("puppeteer-core");
export const AXE = require("axe-core").source;
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/// A model server that says the same to everybody and counts as one with a prefix cache does.
function model() {
  let before = "";
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => { body += part; });
    request.on("end", () => {
      if (request.method === "GET") {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ object: "list", data: [{ id: "stub", object: "model" }] }));
        return;
      }
      const messages = JSON.stringify(JSON.parse(body).messages);
      let same = 0;
      while (same < Math.min(before.length, messages.length) && before[same] === messages[same]) same += 1;
      before = messages;
      const tokens = (characters) => Math.ceil(characters / 4);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({
        id: "stub-1", object: "chat.completion", created: 1, model: "stub",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Good idea. Take the train along the Douro and stay in Pinhão." } }],
        usage: {
          prompt_tokens: tokens(messages.length), completion_tokens: 16, total_tokens: tokens(messages.length) + 16,
          prompt_tokens_details: { cached_tokens: tokens(same) },
        },
      }));
    });
  });
  return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(server)));
}

export class Stage {
  static async open(binary, { upstream = true } = {}) {
    const stage = new Stage();
    stage.binary = binary;
    stage.root = mkdtempSync(join(tmpdir(), "quipu-page-"));
    if (upstream) stage.model = await model();
    await stage.start("127.0.0.1:0");
    return stage;
  }

  async start(listen) {
    const arguments_ = ["serve", "--root", this.root, "--listen", listen, "--json"];
    if (this.model) arguments_.push("--upstream", `http://127.0.0.1:${this.model.address().port}`);
    this.server = spawn(this.binary, arguments_, { stdio: ["ignore", "pipe", "ignore"] });
    this.base = await new Promise((ready, failed) => {
      let said = "";
      this.server.stdout.on("data", (part) => {
        said += part;
        const address = /"listening":\s*"([^"]+)"/.exec(said);
        if (address) ready(address[1]);
      });
      this.server.on("exit", (code) => failed(new Error(`the server ended with ${code}`)));
    });
  }

  /// As a crash ends it.
  async kill() {
    const ended = new Promise((done) => this.server.on("exit", done));
    this.server.kill("SIGKILL");
    await ended;
  }

  /// Where it was.
  async again() {
    await this.start(this.base.replace("http://", ""));
  }

  async post(path, body) {
    const reply = await fetch(this.base + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text}`);
    return JSON.parse(text).data ?? JSON.parse(text);
  }

  async close() {
    const ended = new Promise((done) => this.server.on("exit", done));
    const began = performance.now();
    this.server.kill("SIGTERM");
    const last = setTimeout(() => this.server.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(last);
    this.model?.close();
    rmSync(this.root, { recursive: true, force: true });
    return performance.now() - began;
  }
}

/// Turns of a conversation through the proxy, as a client sends them.
export async function talk(stage, user, said) {
  const messages = [{ role: "system", content: "You are a helpful travel companion. Answer briefly." }];
  for (const text of said) {
    messages.push({ role: "user", content: text });
    const reply = await fetch(stage.base + "/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", "x-quipu-user": user, "x-quipu-conversation": "weekend-in-the-douro", authorization: "Bearer none" },
      body: JSON.stringify({ model: "stub", messages }),
    });
    if (!reply.ok) throw new Error(`proxy: ${reply.status} ${await reply.text()}`);
    messages.push((await reply.json()).choices[0].message);
  }
}

export async function browser() {
  return puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"] });
}

/// A tab whose complaints are kept: errors, refused loads and broken policies.
export async function tab(chromium, complaints) {
  const page = await chromium.newPage();
  page.on("console", (message) => {
    if (["error", "warning", "warn"].includes(message.type())) complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  await page.evaluateOnNewDocument(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  return page;
}

/// What axe finds wrong in the view.
export async function axe(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}: ${node.failureSummary.split("\n").slice(1, 2).join(" ").trim()}`));
}
