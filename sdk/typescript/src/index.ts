/** Memory and context for LLM agents: the client of a Quipu server. */

import type { components, operations } from "./api.js";

type Schemas = components["schemas"];
type Query<Id extends keyof operations> = NonNullable<operations[Id]["parameters"]["query"]>;

/** A message to add. Without `timestamp` it has the time of the call. */
export type NewMessage = Omit<Schemas["MessageItem"], "timestamp"> & { timestamp?: number };
export type AddRequest = Omit<Schemas["AddRequest"], "messages"> & { messages: NewMessage[] };
export type { components, operations, Schemas };

export interface QuipuOptions {
  /** Default: `QUIPU_URL` of the environment, else this machine's server. */
  url?: string;
  /** Default: `QUIPU_TOKEN` of the environment. */
  token?: string;
  /** How often to repeat a call that may be repeated, if the connection fails. Default: 2. */
  retries?: number;
  /** Default: 60,000. */
  timeoutMilliseconds?: number;
}

/** A request that failed. */
export class QuipuError extends Error {
  override name = "QuipuError";

  constructor(
    /** The server's code, such as `NOT_FOUND`; `UNREACHABLE` if no answer arrived. */
    readonly code: string,
    message: string,
    /** The server's log has the request under this id. */
    readonly requestId?: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const PAUSE_MILLISECONDS = 200;

class Transport {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #retries: number;
  readonly #timeout: number;

  constructor(options: QuipuOptions) {
    const environment = globalThis.process?.env ?? {};
    this.#url = (options.url ?? environment.QUIPU_URL ?? "http://127.0.0.1:4777").replace(/\/$/, "");
    const token = options.token ?? environment.QUIPU_TOKEN;
    this.#headers = token ? { authorization: `Bearer ${token}` } : {};
    this.#retries = options.retries ?? 2;
    this.#timeout = options.timeoutMilliseconds ?? 60_000;
  }

  get<T>(path: string, query: object = {}): Promise<T> {
    return this.send("GET", path, { query });
  }

  /** Asks something that may be asked twice. */
  post<T>(path: string, body: object): Promise<T> {
    return this.send("POST", path, { body });
  }

  postOnce<T>(path: string, body: object): Promise<T> {
    return this.send("POST", path, { body, retries: 0 });
  }

  async send<T>(
    method: string,
    path: string,
    { query = {}, body, retries = this.#retries }: { query?: object; body?: object; retries?: number },
  ): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value != null);
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const isForm = body instanceof FormData;
    const content = body && { body: isForm ? body : JSON.stringify(body) };
    const headers = { ...this.#headers, ...(body && !isForm && { "content-type": "application/json" }) };
    for (let attempt = 1; ; attempt++) {
      try {
        const signal = AbortSignal.timeout(this.#timeout);
        const response = await fetch(`${this.#url}${path}?${search}`, { method, headers, signal, ...content });
        return answer(response, await response.text()) as T;
      } catch (error) {
        if (error instanceof QuipuError) throw error;
        // A timeout is no broken connection: the server may still be at work.
        if (attempt > retries || !(error instanceof TypeError)) {
          throw new QuipuError("UNREACHABLE", `${this.#url}: ${error}`, undefined, undefined, { cause: error });
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS * attempt));
      }
    }
  }
}

/** The data of an answer, without its envelope. */
function answer(response: Response, text: string): unknown {
  if (response.status === 204) return undefined;
  const body = parsed(text);
  if (response.ok && body) return body.data ?? body;
  const { code = `HTTP_${response.status}`, message = "the answer is not Quipu's: check the URL" } = body?.error ?? {};
  throw new QuipuError(code, message, response.headers.get("x-request-id") ?? undefined, response.status);
}

function parsed(text: string): { data?: unknown; error?: { code?: string; message?: string } } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const API = "/api/v2";

/** Conversations of a program that calls its model itself: messages in, the next request for the model out. */
export class Conversations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists a user's conversations. */
  list(query: Query<"context_conversations"> = {}): Promise<Schemas["ConversationsData"]> {
    return this.#transport.get(`${API}/context/conversations`, query);
  }

  /** Stores messages. The first call makes the conversation. */
  append(request: Schemas["AppendRequest"]): Promise<Schemas["AppendData"]> {
    return this.#transport.postOnce(`${API}/context/append`, request);
  }

  /** Returns the next request for a model: messages that fit its window, with memories. */
  assemble(request: Schemas["AssembleRequest"]): Promise<Schemas["AssembleData"]> {
    return this.#transport.postOnce(`${API}/context/assemble`, request);
  }

  /** Stores the model's reply and gives the turn to memory. */
  afterTurn(request: Schemas["AfterTurnRequest"]): Promise<Schemas["AfterTurnData"]> {
    return this.#transport.postOnce(`${API}/context/after_turn`, request);
  }

  /** Compacts now. */
  compact(request: Schemas["CompactRequest"]): Promise<Schemas["CompactData"]> {
    return this.#transport.postOnce(`${API}/context/compact`, request);
  }

  /** Continues from just before the message `to`. */
  rewind(request: Schemas["RewindRequest"]): Promise<Schemas["DoneData"]> {
    return this.#transport.postOnce(`${API}/context/rewind`, request);
  }

  /** Returns the messages that the model sees. */
  view(query: Query<"context_view">): Promise<Schemas["ViewData"]> {
    return this.#transport.get(`${API}/context/view`, query);
  }

  /** Returns figures and warnings. */
  stats(query: Query<"context_stats">): Promise<Schemas["ContextStatsData"]> {
    return this.#transport.get(`${API}/context/stats`, query);
  }

  /** Returns messages that contain all words of `query`. */
  find(query: Query<"context_find">): Promise<Schemas["OriginalsData"]> {
    return this.#transport.get(`${API}/context/find`, query);
  }

  /** Returns a message (`id: "m17"`), or all that a summary stands for (`id: "n3"`). */
  recover(query: Query<"context_recover">): Promise<Schemas["OriginalsData"]> {
    return this.#transport.get(`${API}/context/recover`, query);
  }
}

/** Documents: text, Markdown, HTML, PDF, office files, e-mails. */
export class Documents {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Stores a document. Quipu takes the title from the document if `title` is not given. */
  upload(
    file: Blob,
    fields: { name: string } & Partial<Omit<Schemas["DocumentForm"], "file">>,
  ): Promise<Schemas["DocumentCreateData"]> {
    const form = new FormData();
    const { name, ...others } = fields;
    form.set("file", file, name);
    for (const [key, value] of Object.entries(others)) if (value != null) form.set(key, value);
    return this.#transport.postOnce(`${API}/knowledge/documents`, form);
  }

  /** Lists documents, by page. */
  list(query: Query<"list_documents"> = {}): Promise<Schemas["DocumentListData"]> {
    return this.#transport.get(`${API}/knowledge/documents`, query);
  }

  /** Returns a document with its topics. */
  read(docId: string, query: Query<"one_document"> = {}): Promise<Schemas["DocumentData"]> {
    return this.#transport.get(`${API}/knowledge/documents/${encodeURIComponent(docId)}`, query);
  }

  /** Deletes a document. Returns `undefined` if it does not exist. */
  delete(docId: string, query: Query<"delete_document"> = {}): Promise<Schemas["DocumentDeleteData"] | undefined> {
    return this.#transport.send("DELETE", `${API}/knowledge/documents/${encodeURIComponent(docId)}`, { query });
  }

  /** Finds parts of documents. */
  search(request: Schemas["KnowledgeSearchRequest"]): Promise<Schemas["KnowledgeSearchData"]> {
    return this.#transport.post(`${API}/knowledge/search`, request);
  }
}

/** A client of a Quipu server. A call that fails throws a `QuipuError`. */
export class Quipu {
  readonly conversations: Conversations;
  readonly documents: Documents;
  readonly #transport: Transport;

  constructor(options: QuipuOptions = {}) {
    this.#transport = new Transport(options);
    this.conversations = new Conversations(this.#transport);
    this.documents = new Documents(this.#transport);
  }

  /** Adds messages of a session. Each gets an id, by which the server knows a message that it gets again. */
  add(request: AddRequest): Promise<Schemas["AddData"] | Schemas["QueuedData"]> {
    const stamp = () => ({ timestamp: Date.now(), message_id: crypto.randomUUID() });
    const messages = request.messages.map((message) => ({ ...stamp(), ...message }));
    return this.#transport.post(`${API}/memory/add`, { ...request, messages });
  }

  /** Extracts memories from a session's buffer now. */
  flush(request: Schemas["FlushRequest"]): Promise<Schemas["FlushData"]> {
    return this.#transport.post(`${API}/memory/flush`, request);
  }

  /** Finds memories, and verbatim messages with `include_messages`. */
  search(request: Schemas["SearchRequest"]): Promise<Schemas["SearchData"]> {
    return this.#transport.post(`${API}/memory/search`, request);
  }

  /** Returns memories for a user's message as text to append to it, marked as data. */
  context(request: Schemas["ContextRequest"]): Promise<Schemas["ContextData"]> {
    return this.#transport.post(`${API}/memory/context`, request);
  }

  /** Lists an owner's memories of one kind, by page. */
  list(request: Schemas["GetRequest"]): Promise<Schemas["GetData"]> {
    return this.#transport.post(`${API}/memory/get`, request);
  }

  /** Returns one memory. */
  read(memoryId: string, query: Query<"one_memory"> = {}): Promise<Schemas["GetData"]> {
    return this.#transport.get(`${API}/memories/${encodeURIComponent(memoryId)}`, query);
  }

  /** Changes the text of a memory. */
  edit(request: Schemas["EditRequest"]): Promise<Schemas["EditData"]> {
    return this.#transport.post(`${API}/memory/edit`, request);
  }

  /** Patches an episode and returns it. */
  update(request: Schemas["UpdateRequest"]): Promise<Schemas["UpdateData"]> {
    return this.#transport.post(`${API}/memory/update`, request);
  }

  /** Deletes single memories. */
  delete(request: Schemas["DeleteByIdsRequest"]): Promise<Schemas["DeleteByIdsData"]> {
    return this.#transport.post(`${API}/memory/delete_by_ids`, request);
  }

  /** Deletes all memory of a session, of an owner, or of an owner in a session. */
  forget(request: Schemas["DeleteRequest"]): Promise<Schemas["DeleteData"]> {
    return this.#transport.post(`${API}/memory/delete`, request);
  }

  /** Lists changes of the files. */
  history(query: Query<"history"> = {}): Promise<Schemas["HistoryData"]> {
    return this.#transport.get(`${API}/history`, query);
  }

  /** Undoes one background run. */
  undo(request: Schemas["UndoRequest"]): Promise<Schemas["UndoData"]> {
    return this.#transport.postOnce(`${API}/history/undo`, request);
  }

  /** Returns the health of the server. */
  health(): Promise<Schemas["HealthData"]> {
    return this.#transport.get("/health");
  }
}
