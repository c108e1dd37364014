// The npm package of this repository, with the real AI SDK, against a real server: node own.mjs QUIPU, the absolute path of a binary
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, jsonSchema, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Quipu, QuipuError } from "quipu-memory";
import { memory } from "quipu-memory/ai";
import { start } from "quipu-memory/start";

const binary = process.argv[2];
const said = (sender_id, content, role = "user") => ({ sender_id, role, content });
const fails = async (call, code) => {
  const error = await call.then(() => assert.fail(`no ${code}`), (error) => error);
  assert.ok(error instanceof QuipuError && error.code === code, error);
  return error;
};

async function memories(url) {
  const quipu = new Quipu({ url });
  const messages = [said("ada", "My boat is called Marula."), said("bot", "Noted.", "assistant")];
  assert.equal((await quipu.add({ session_id: "chat/1", messages })).message_count, 2);
  assert.equal((await quipu.flush({ session_id: "chat/1", wait: true })).status, "extracted");
  const found = await quipu.search({ user_id: "ada", query: "What is the boat called?", include_messages: 1 });
  assert.equal(found.messages[0].content, "My boat is called Marula.");
  const { context } = await quipu.context({ user_id: "ada", query: "What is my boat called?" });
  assert.match(context, /^<quipu-memory.*Marula/s);
  const episode = (await quipu.list({ user_id: "ada", memory_type: "episode" })).episodes[0];
  assert.equal((await quipu.read(episode.id)).episodes[0].id, episode.id);
  assert.deepEqual((await quipu.edit({ id: episode.id, episode: "The boat is called Nyala." })).changed, ["episode"]);
  const patch = { subject: "The boat" };
  assert.match(JSON.stringify(await quipu.update({ memory_type: "episode", memory_id: episode.id, patch })), /The boat/);
  assert.ok((await quipu.history({ user_id: "ada", limit: 5 })).changes);
  await fails(quipu.undo({ run_id: "r_1" }), "NOT_FOUND");
  assert.ok((await quipu.delete({ ids: [episode.id] })).count >= 1);
  await quipu.forget({ user_id: "ada" });
  assert.deepEqual((await quipu.search({ user_id: "ada", query: "boat", include_messages: 5 })).messages, []);
  assert.equal((await quipu.health()).status, "ok");
}

async function documents(url) {
  const { documents } = new Quipu({ url });
  const file = new Blob(["# Boats\n\nMarula sails from Lisbon at seven.\n"]);
  const { doc_id } = await documents.upload(file, { name: "boats.md", title: "Boats" });
  const { hits } = await documents.search({ query: "When does Marula sail?", include_content: true });
  assert.match(hits[0].content, /at seven/);
  assert.equal((await documents.list()).total, 1);
  assert.equal((await documents.read(doc_id)).title, "Boats");
  assert.ok(await documents.delete(doc_id));
  assert.equal(await documents.delete(doc_id), undefined);
}

async function conversations(url) {
  const quipu = new Quipu({ url });
  const talk = quipu.conversations;
  const named = { user_id: "ada", conversation_id: "house" };
  await fails(talk.assemble(named), "NOT_FOUND");
  await talk.append({ ...named, messages: [{ role: "user", content: "The plumber is Ernesto." }] });
  const request = await talk.assemble({ ...named, window_tokens: 8_192, system: "Be brief." });
  assert.deepEqual(request.messages.map(({ role }) => role), ["system", "user"]);
  await talk.afterTurn({ ...named, message: { role: "assistant", content: "Noted." }, prompt_tokens: 30 });
  assert.deepEqual((await talk.list({ user_id: "ada" })).conversations, ["house"]);
  assert.equal((await talk.find({ ...named, query: "plumber" })).messages[0].id, "m0");
  assert.equal((await talk.recover({ ...named, id: "m1" })).messages[0].message.content, "Noted.");
  assert.ok(await talk.stats(named));
  assert.ok(await talk.compact({ ...named, window_tokens: 8_192 }));
  await talk.rewind({ ...named, to: "m1" });
  assert.equal((await talk.view(named)).messages.length, 1);
}

/** Cuts the connection as often as it is told, after the server did the work. */
async function retries(url) {
  let cuts = 2;
  let asked = 0;
  const faulty = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const { method, headers } = request;
    const kind = { "content-type": headers["content-type"] };
    const answer = await fetch(url + request.url, { method, headers: kind, body: Buffer.concat(chunks) });
    asked += 1;
    if (cuts-- > 0) return response.destroy();
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  });
  faulty.listen(0, "127.0.0.1");
  await once(faulty, "listening");
  const quipu = new Quipu({ url: `http://127.0.0.1:${faulty.address().port}` });
  const added = await quipu.add({ session_id: "cut", messages: [said("zoe", "Once only.")] });
  assert.deepEqual([added.duplicates, asked], [1, 3]);
  [cuts, asked] = [1, 0];
  const messages = [{ role: "user", content: "Hi" }];
  await fails(quipu.conversations.append({ user_id: "zoe", conversation_id: "c", messages }), "UNREACHABLE");
  assert.equal(asked, 1, "an append is not repeated");
  faulty.close();
}

async function errors(url) {
  const error = await fails(new Quipu({ url }).search({ user_id: "ada", query: "" }), "INVALID_INPUT");
  assert.equal(error.status, 422);
  assert.ok(error.requestId && /query/.test(error.message));
  await fails(new Quipu({ url: "http://127.0.0.1:9", retries: 0 }).health(), "UNREACHABLE");
  const stranger = createServer((_, response) => response.end("<html>")).listen(0, "127.0.0.1");
  await once(stranger, "listening");
  await fails(new Quipu({ url: `http://127.0.0.1:${stranger.address().port}` }).health(), "HTTP_200");
  stranger.close();
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finishReason = { unified: "stop", raw: "stop" };

async function aiSdk(url) {
  const quipu = new Quipu({ url });
  await quipu.add({ session_id: "earlier", messages: [said("kim", "My boat is called Marula.")] });
  const asked = [];
  const text = (id, delta) => ({ type: "text-delta", id, delta });
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      asked.push(prompt);
      return { content: [{ type: "text", text: "It is Marula." }], finishReason, usage, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      asked.push(prompt);
      const chunks = [
        { type: "text-start", id: "1" }, text("1", "She is "), text("1", "fast."), { type: "text-end", id: "1" },
        { type: "finish", finishReason, usage },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
  const remembering = wrapLanguageModel({ model, middleware: memory({ client: quipu, userId: "kim", sessionId: "now" }) });
  const messages = [{ role: "user", content: "What is my boat called?" }];
  assert.equal((await generateText({ model: remembering, messages })).text, "It is Marula.");
  const [question, given] = asked[0][0].content.map((part) => part.text);
  assert.equal(question, "What is my boat called?");
  assert.match(given, /^<quipu-memory.*Marula/s);
  messages.push({ role: "assistant", content: "It is Marula." }, { role: "user", content: "Is she fast?" });
  let reply = "";
  for await (const part of streamText({ model: remembering, messages }).textStream) reply += part;
  assert.equal(reply, "She is fast.");
  assert.deepEqual(asked[1][0], asked[0][0], "a message keeps what it got");
  const filters = { session_id: "now" };
  const kept = await quipu.search({ user_id: "kim", query: "boat", include_messages: 10, filters });
  const words = kept.unprocessed_messages.map(({ content }) => content);
  assert.deepEqual(words, ["What is my boat called?", "It is Marula.", "Is she fast?", "She is fast."]);
  // Without a server the model answers all the same.
  const errors = [];
  const nobody = new Quipu({ url: "http://127.0.0.1:9", retries: 0 });
  const middleware = memory({ client: nobody, userId: "kim", sessionId: "now", onError: (error) => errors.push(error.code) });
  const alone = await generateText({ model: wrapLanguageModel({ model, middleware }), prompt: "Hi" });
  assert.equal(alone.text, "It is Marula.");
  assert.deepEqual(errors, ["UNREACHABLE", "UNREACHABLE"]);
}

/** Steps with tools are one turn: each step has the memories, and memory learns the turn once. */
async function aiSdkTools(url) {
  const quipu = new Quipu({ url });
  await quipu.add({ session_id: "before", messages: [said("lou", "My boat is called Oryx.")] });
  const asked = [];
  const call = { type: "tool-call", toolCallId: "c1", toolName: "weather", input: "{}" };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const isFirst = asked.push(prompt) === 1;
      const content = [isFirst ? call : { type: "text", text: "Sunny for Oryx." }];
      const unified = isFirst ? "tool-calls" : "stop";
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  });
  const tools = { weather: tool({ inputSchema: jsonSchema({ type: "object" }), execute: async () => "sunny" }) };
  const middleware = memory({ client: quipu, userId: "lou", sessionId: "tools" });
  const prompt = "How is the weather for my boat?";
  await generateText({ model: wrapLanguageModel({ model, middleware }), prompt, tools, stopWhen: stepCountIs(2) });
  assert.equal(asked.length, 2);
  assert.match(asked[0][0].content[1].text, /Oryx/);
  assert.deepEqual(asked[1][0], asked[0][0]);
  const kept = await quipu.search({ user_id: "lou", query: "boat", filters: { session_id: "tools" } });
  assert.deepEqual(kept.unprocessed_messages.map(({ content }) => content), [prompt, "Sunny for Oryx."]);
}

async function started(root) {
  const server = await start({ root, binary });
  assert.equal((await new Quipu(server).health()).status, "ok");
  await fails(start({ root, binary }), "NOT_STARTED");
  await fails(start({ root, binary: "no-such-program" }), "NOT_STARTED");
  await server.close();
  await fails(new Quipu({ url: server.url, retries: 0 }).health(), "UNREACHABLE");
  // Also if its owner is killed, nothing stays behind.
  const options = JSON.stringify({ root, binary });
  const program = `import { start } from "quipu-memory/start"; console.log((await start(${options})).url); setInterval(() => {}, 1e6);`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", program], {
    cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await owner.stdout.take(1).toArray();
  const url = String(line).trim();
  assert.ok(await new Quipu({ url }).health());
  owner.kill("SIGKILL");
  const end = AbortSignal.timeout(30_000);
  const isUp = () => fetch(`${url}/health/live`, { signal: end }).then(() => true, () => false);
  while (await isUp()) assert.ok(!end.aborted);
}

const root = await mkdtemp(join(tmpdir(), "quipu-"));
await started(root);
console.log("typescript start: well");
const server = await start({ root, binary });
for (const check of [memories, documents, conversations, retries, errors, aiSdk, aiSdkTools]) {
  await check(server.url);
  console.log(`typescript ${check.name}: well`);
}
await server.close();
await rm(root, { recursive: true });
