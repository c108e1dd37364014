/** Memory for any model of the Vercel AI SDK. */

import type { LanguageModelMiddleware } from "ai";

import { Quipu } from "./index.js";

type Wrapped = Parameters<NonNullable<LanguageModelMiddleware["wrapGenerate"]>>[0];
type Request = Wrapped["params"];
type Message = Request["prompt"][number];

export interface MemoryOptions {
  /** The user whose memory it is. */
  userId: string;
  /** The conversation. */
  sessionId: string;
  client?: Quipu;
  /** Most tokens of memory for one message. Default: the server's. */
  maxTokens?: number;
  /** What to do if the server does not answer; the model answers without memory. Default: a warning on the console. */
  onError?: (error: unknown) => void;
}

/** Appends memories to the user's newest message, and adds each finished turn to memory. Make one for each conversation. */
export function memory(options: MemoryOptions): LanguageModelMiddleware {
  const { userId, sessionId, client = new Quipu(), maxTokens, onError = console.warn } = options;
  // What a message got stays with it, so that each request begins with the bytes of the last one.
  const given = new Map<string, string>();

  async function look(query: string): Promise<void> {
    const limit = maxTokens === undefined ? {} : { max_tokens: maxTokens };
    try {
      const found = await client.context({ user_id: userId, session_id: sessionId, query, ...limit });
      given.set(query, found.context);
    } catch (error) {
      onError(error);
    }
  }

  async function informed(request: Request): Promise<Request> {
    const query = newest(request);
    if (query && !given.has(query)) await look(query);
    return { ...request, prompt: request.prompt.map((message) => appended(message, given.get(words(message)))) };
  }

  async function learn(request: Request, reply: string): Promise<void> {
    const said = newest(request);
    if (!said || !reply) return;
    const messages = [
      { sender_id: userId, role: "user" as const, content: said },
      { sender_id: "assistant", role: "assistant" as const, content: reply },
    ];
    try {
      await client.add({ session_id: sessionId, messages });
    } catch (error) {
      onError(error);
    }
  }

  return {
    specificationVersion: "v3",
    async wrapGenerate({ model, params }) {
      const result = await model.doGenerate(await informed(params));
      const texts = result.content.map((part) => (part.type === "text" ? part.text : ""));
      // Until the tools have answered, the turn goes on.
      if (result.finishReason.unified !== "tool-calls") await learn(params, texts.join(""));
      return result;
    },
    async wrapStream({ model, params }) {
      const { stream, ...rest } = await model.doStream(await informed(params));
      let reply = "";
      const heard = new TransformStream<Chunk, Chunk>({
        async transform(chunk, controller) {
          if (chunk.type === "text-delta") reply += chunk.delta;
          if (chunk.type === "finish" && chunk.finishReason.unified !== "tool-calls") await learn(params, reply);
          controller.enqueue(chunk);
        },
      });
      return { stream: stream.pipeThrough(heard), ...rest };
    },
  };
}

type Streamed = Awaited<ReturnType<Wrapped["doStream"]>>;
type Chunk = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;

function words(message: Message): string {
  if (message.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function newest(request: Request): string {
  return words(request.prompt.findLast((message) => message.role === "user") ?? { role: "system", content: "" });
}

function appended(message: Message, context: string | undefined): Message {
  if (message.role !== "user" || !context) return message;
  return { ...message, content: [...message.content, { type: "text", text: context }] };
}
