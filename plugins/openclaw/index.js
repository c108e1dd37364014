// Memory for OpenClaw: runs `quipu hook` for each prompt and answer, as the hooks of the other agents do.
import { spawn } from "node:child_process";

const COMMAND = ["quipu", "hook"];
const TIMEOUT_MS = 10_000;

/** What Quipu adds to an event; empty where it adds nothing or is not there: the agent goes on without memory. */
function hook(name, session, fields) {
  return new Promise((resolve) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS });
    let said = "";
    child.stdout.on("data", (data) => (said += data));
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(""));
    child.on("close", () => {
      try {
        resolve(JSON.parse(said).hookSpecificOutput.additionalContext);
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify({ hook_event_name: name, session_id: session, ...fields }));
  });
}

const text = ({ content }) =>
  typeof content === "string"
    ? content
    : (content ?? []).filter((block) => block.type === "text").map((block) => block.text).join("\n");

/** Another session's or the system's input is not a person's. */
const isPersons = (ctx) => ctx.sessionId && (ctx.inputProvenance?.kind ?? "external_user") === "external_user";

export default {
  id: "quipu",
  name: "Quipu memory",
  description: "Memory that you can read: what one session says, the next one knows",
  register(api) {
    api.on("before_prompt_build", async (event, ctx) => {
      const prompt = event.currentUserMessage ?? event.prompt;
      if (!prompt || !isPersons(ctx)) return;
      const opening = event.messages?.length ? "" : hook("SessionStart", ctx.sessionId, { source: "startup" });
      const turn = event.currentUserMessageId ?? ctx.runId;
      const recalled = hook("UserPromptSubmit", ctx.sessionId, { prompt, prompt_id: turn });
      const added = (await Promise.all([opening, recalled])).filter(Boolean).join("\n\n");
      return added ? { appendContext: added } : undefined;
    });
    api.on("agent_end", async (event, ctx) => {
      const last = event.messages?.at(-1);
      if (last?.role !== "assistant" || !isPersons(ctx)) return;
      await hook("Stop", ctx.sessionId, { last_assistant_message: text(last), prompt_id: ctx.runId });
    });
    api.on("before_compaction", (_, ctx) => (ctx.sessionId ? hook("PreCompact", ctx.sessionId, {}) : undefined));
  },
};
