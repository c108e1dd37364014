"""The requests and answers of the API. Written by `generate.py`: change `docs/openapi.json` instead."""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Literal, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

AddStatus = Literal["accumulated", "extracted"]
"""Whether an add made memory."""

Belief = Literal["fact", "again", "doubt", "confirmed", "ended", "withdrawn"]
"""How a statement stands: a fact that nobody confirmed; said again after its person took it back; in doubt, because its message may have the words of somebody else; a fact that was confirmed; one that has ended or was replaced; taken back, as wrong or as said in a scene. Only facts are facts: the others are in the words of a message."""

ChangedBy = Literal["person", "run"]
"""Author of a change."""

ContentType = Literal["text", "image", "audio", "doc", "pdf", "html", "email"]
"""The type of a content part."""

Dialect = Literal["openai", "anthropic", "responses"]
"""Format of messages."""

EpisodeType = Literal["Conversation"]
"""The only type of an episode."""

ErrorCode = Literal["BAD_REQUEST", "UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "METHOD_NOT_ALLOWED", "CONFLICT", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_FORMAT", "INVALID_INPUT", "EXTRACTION_EMPTY", "PROVIDER_NOT_CONFIGURED", "QUEUE_SATURATED", "INTERNAL_ERROR", "CONFIGURATION_ERROR", "EXTERNAL_SERVICE_UNAVAILABLE", "CAPABILITY_UNAVAILABLE", "DISK_READ_ONLY", "DISK_FULL"]
"""A stable word for each kind of error."""

FlushStatus = Literal["extracted", "no_extraction"]
"""Whether a flush made memory."""

HealthStatus = Literal["ok", "degraded"]
"""Overall status."""

KnowledgeMethod = Literal["keyword", "vector", "hybrid"]
"""Search method."""

MemoryMode = Literal["on", "read-only", "off"]
"""Memory mode of a request."""

MemoryStanding = Literal["current", "superseded"]
"""Whether a memory holds."""

MemoryType = Literal["episode", "profile", "agent_case", "agent_skill", "atomic_fact", "foresight"]
"""A kind of memory. A user has episodes, facts, announced events and a profile, an agent has cases and skills."""

MessageContent = Union[str, List["ContentItem"]]
"""Plain text, or typed parts in order."""

MessageRole = Literal["user", "assistant", "tool"]
"""Role of the speaker."""

QueuedStatus = Literal["queued"]
"""The one word of a 202."""

RunStatus = Literal["queued", "running", "success", "failed", "dead_letter"]
"""Status of a run."""

SearchMethod = Literal["keyword", "vector", "hybrid", "agentic", "llm_multiround"]
"""Which evidence is used."""

SkillState = Literal["draft", "approved", "rejected"]
"""Approval of a skill by people."""

SortField = Literal["timestamp", "updated_at"]
"""Field to sort by."""

SortOrder = Literal["asc", "desc"]
"""Sort direction."""

TaskStatus = Literal["queued", "processing", "success", "failed"]
"""Status of a task."""

TaskType = Literal["memory_add", "memory_flush", "memory_write"]
"""Kind of a task."""

TriggerStatus = Literal["ok", "timeout", "not_dispatched"]
"""Outcome of a trigger."""

UpdateData = Any
"""The episode after the change."""

Verdict = Literal["keep", "wrong", "scene", "ended"]
"""What a person says of a statement: `keep`, it is true, whatever was answered before; `wrong`, it never was, or is about somebody else; `scene`, it was said in a game or a story, as was all of its session; `ended`, it is no longer true."""

When = Union[int, str]
"""An instant as a client writes it."""


class AddData(TypedDict):
    """Result of an add."""

    message_count: int

    status: AddStatus

    message_ids: List[str]
    """Quipu: the ids of the messages that are stored, in the order they were sent: all but those in `withheld`."""

    duplicates: int
    """Quipu: number of messages that were stored before, also those deleted since. Without a `message_id` a message is the same if its session, sender, role, timestamp and content are."""

    forgotten: NotRequired[int]
    """Quipu: number of duplicates that were deleted and are left out."""

    withheld: NotRequired[List[int]]
    """Quipu: the positions in the request, from 0, of the messages that are left out."""

    restored: NotRequired[int]
    """Quipu: number of messages that were deleted before and are stored again, as `accept_forgotten` asks."""

    redacted: NotRequired[int]
    """Quipu: number of secrets removed from them before they were written."""


class AddRequest(TypedDict):
    """Messages of one session to add. Unknown keys are ignored."""

    session_id: str

    session_title: NotRequired[str]
    """Quipu: title of the session; episodes made by rules take it as their subject."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    messages: List[MessageItem]

    defer_extraction: NotRequired[bool]
    """Only accept the messages; a later flush extracts memories from them."""

    async_mode: NotRequired[bool]
    """Answer 202 at once; `GET tasks/{request_id}` returns the result."""

    wait: NotRequired[bool]
    """Quipu: answer only when all memories of the session are written and searchable."""

    accept_forgotten: NotRequired[bool]
    """Quipu: also store messages that were deleted before. Without it an add leaves them out: the same words of the same sender, with the time, the `message_id` or the neighbours of then."""

    log_of: NotRequired[str]
    """Quipu: the user for whom an agent wrote the messages to its log. A log begins with a copy of the session that it goes on from: a message that another session of this user has, with the same sender, role, timestamp and content, is a duplicate."""

    undated: NotRequired[bool]
    """Quipu: the timestamps say when the messages are sent, not when they were said. The same messages, sent again to the session on the same day (UTC), are duplicates."""


class AfterTurnData(TypedDict):
    """The id of a recorded reply."""

    id: str


class AfterTurnRequest(TypedDict):
    """Your model's reply."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    dialect: NotRequired[Dialect]

    message: Dict[str, Any]

    prompt_tokens: NotRequired[Union[int, None]]
    """The prompt's tokens as the server reported them, cached ones included: Quipu corrects later counts with it."""

    memory: NotRequired[MemoryMode]
    """`on`: memory learns from the turn."""

    agent_id: NotRequired[Union[str, None]]


class AnswerData(TypedDict):
    """What an answer changed."""

    facts: int
    """Facts, those with the same words or of the same session too."""

    statements: List[str]
    """Their texts."""

    derived: int
    """Memories that were made of them and went."""


class AnswerRequest(TypedDict):
    """A person's answer about one statement. Unknown keys are refused."""

    user_id: str

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    id: str
    """The `id` of a statement of `memory/review`."""

    verdict: Verdict


class AppendData(TypedDict):
    """The ids of appended messages, in order."""

    ids: List[str]


class AppendRequest(TypedDict):
    """Messages for a conversation, oldest first. The first request makes the conversation."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    dialect: NotRequired[Dialect]

    messages: List[Dict[str, Any]]
    """Each as your model's API takes it, without the system text."""


class ArchiveItem(TypedDict):
    """One summary."""

    id: str
    """`n3`."""

    covers: List[str]
    """Ranges of the messages that the summary replaces: `m0-m16`."""

    tokens_before: int

    tokens_after: int

    reason: str
    """`threshold`, `idle`, `manual` or `overflow`."""

    text: str
    """Text that the model sees in their place."""


class ArchivesData(TypedDict):
    """The summaries in view."""

    archives: List[ArchiveItem]


class AssembleData(TypedDict):
    """A request for your model."""

    messages: List[Dict[str, Any]]
    """Send exactly these, in this order. In the dialect `openai` the system text is the first."""

    system: NotRequired[Union[str, None]]
    """The system text, in dialects that have a field for it."""

    tools: List[Dict[str, Any]]

    tokens: int
    """Tokens of the messages with what memory added, without system text and tools."""

    limit_tokens: int
    """Maximum tokens of the messages."""

    compacted: bool
    """Whether this request compacted the view."""

    reasons: List[str]
    """Reasons why the request does not extend the last one; empty if it does, so that the server's cache stays valid."""

    memory_ids: List[str]
    """The ids of the memories that were added."""

    warning: NotRequired[Union[str, None]]
    """The context is nearly full."""


class AssembleRequest(TypedDict):
    """The next request for your model. The budget is the window less the reserve, the system text, the tools and the room for memory."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    dialect: NotRequired[Dialect]

    model: NotRequired[Union[str, None]]
    """The model that will answer: its vocabulary decides token counts, and its window is the default of `window_tokens`."""

    window_tokens: NotRequired[Union[int, None]]
    """The model's window."""

    reserve_tokens: NotRequired[Union[int, None]]
    """Kept free for the answer. Default: an eighth of the window."""

    system: NotRequired[Union[str, None]]

    tools: NotRequired[List[Dict[str, Any]]]
    """The tools that go with the request."""

    memory: NotRequired[MemoryMode]

    agent_id: NotRequired[Union[str, None]]
    """The agent of the conversation: its approved skills are added if the request has tools."""


class AuditData(TypedDict):
    """Problems of the stored memories."""

    findings: List[FindingItem]
    """By file, then by memory."""


class BelievedItem(TypedDict):
    """A statement of a person."""

    id: str

    belief: Belief

    text: str

    session_id: NotRequired[Union[str, None]]

    message_ids: List[str]

    timestamp: str


class BrokenFileItem(TypedDict):
    """A file that could not be read."""

    path: str

    problem: str


class CacheData(TypedDict):
    """Sums by server, and the newest requests by conversation."""

    upstreams: List[UpstreamItem]
    """Over all tenants: empty for a token of one."""

    conversations: List[ConversationItem]


class Capabilities(TypedDict):
    """Capabilities of the configured models."""

    llm: bool

    embed: bool

    rerank: bool

    multimodal_llm: bool

    parser: bool


class CascadeHealth(TypedDict):
    """Sync from Markdown to the index. Counters that are always 0 are here for clients that read them."""

    healthy: bool

    reasons: List[str]

    pending: int

    failed_permanent: int
    """Files that could not be read."""

    failed_retryable: int
    """Always 0."""

    drain_consecutive_failures: int
    """Always 0."""

    unrecoverable_total: int
    """Always 0."""

    optimize_failure_streak: int
    """Always 0."""

    prune_stale_seconds: float
    """Always 0."""

    index_rows: Dict[str, Any]
    """Rows now, not at the start."""

    index_emptied: bool
    """The index must be rebuilt from the Markdown."""


class CaseItem(TypedDict):
    """A case: one piece of an agent's work, with its result."""

    id: str

    agent_id: str

    app_id: str

    project_id: str

    session_id: NotRequired[Union[str, None]]

    task_intent: str
    """The task that a person gave, in one sentence."""

    approach: str
    """Numbered steps; failed ones are named."""

    quality_score: float
    """Quality of the result: 0 to 1."""

    key_insight: NotRequired[Union[str, None]]
    """Failed attempts, the approach that worked, and messages of people."""

    timestamp: str

    score: NotRequired[Union[float, None]]
    """Only in a search: 0 to 1."""

    message_ids: NotRequired[List[str]]
    """Quipu: the messages that it was made from."""

    path: NotRequired[str]
    """Quipu: the Markdown file that holds it, below `memory/`."""

    explain: NotRequired[Union[Explain, None]]


class CategoryItem(TypedDict):
    """A category."""

    category_id: str

    description: str

    document_count: int


class CategoryListData(TypedDict):
    """Every category."""

    categories: List[CategoryItem]


class ChangeItem(TypedDict):
    """A recorded change."""

    id: str
    """Its number."""

    at: str

    by: ChangedBy

    run_id: NotRequired[Union[str, None]]
    """The run to undo."""

    strategy: NotRequired[Union[str, None]]

    reason: NotRequired[Union[str, None]]

    undoes: NotRequired[Union[str, None]]
    """The run that this one undid."""

    subject: str
    """One line that summarises the change."""

    files: List[str]
    """Below `memory/`."""


class CleanupData(TypedDict):
    """Reports that were dropped."""

    steps_removed: int
    """Steps of the last compaction."""

    saved_tokens: int
    """Tokens that they had saved."""


class CleanupRequest(TypedDict):
    """A conversation whose reports are dropped."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""


class CompactData(TypedDict):
    """Result of a compaction."""

    tokens_before: int

    tokens_after: int

    steps: List[StepItem]
    """Each step that was tried."""


class CompactRequest(TypedDict):
    """Compact now, even if no compaction is due."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    window_tokens: NotRequired[Union[int, None]]
    """The window to compact for. Default: that of the last request."""


class ContentItem(TypedDict):
    """One part of a message's content. The text of a document, page or e-mail becomes part of the message's text, as a quotation. Of an image or sound without `text`, and of a file that Quipu cannot read, the message names the name, size and digest. Quipu fetches no `uri`."""

    type: ContentType

    text: NotRequired[Union[str, None]]

    uri: NotRequired[Union[str, None]]

    base64: NotRequired[Union[str, None]]

    ext: NotRequired[Union[str, None]]

    name: NotRequired[Union[str, None]]

    extras: NotRequired[Union[Dict[str, Any], None]]
    """Any JSON object; returned exactly as it was sent."""


class ContextData(TypedDict):
    """Memories for the message."""

    context: str
    """Text to append to the user's message: messages and facts with speaker and date, newest first, marked as data. Empty when no memory scores high enough."""

    memory_ids: List[str]
    """The ids of the messages and memories in it, in order."""

    tokens: int
    """Estimated tokens of `context`."""


class ContextRequest(TypedDict):
    """A user's message to a model, or the beginning of a session. Unknown keys are refused."""

    user_id: str
    """The user whose memory is searched."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    query: NotRequired[str]
    """The message in the user's words. Omitted at the beginning of a session: the text is then core memory and the subjects of the latest episodes."""

    session_id: NotRequired[Union[str, None]]
    """The current session; its messages are left out."""

    known_ids: NotRequired[List[str]]
    """`memory_ids` of earlier answers that the model still sees; these memories are left out."""

    include_person: NotRequired[bool]
    """Also searches what the user said outside of any project, and what holds for them in all their projects. A token for one project gets that only with `person = true`."""

    max_tokens: NotRequired[int]
    """Maximum length of the text, in tokens."""


class ContextStatsData(TypedDict):
    """The figures of a conversation."""

    model: str

    engine: str
    """Name of the context engine that makes the view."""

    owns_compaction: bool
    """The engine compacts by itself."""

    tokens: int
    """Tokens of the view."""

    head_tokens: int
    """Tokens of system text and tools in the last request."""

    limit_tokens: NotRequired[Union[int, None]]

    window_tokens: NotRequired[Union[int, None]]

    compacts_at_tokens: NotRequired[Union[int, None]]
    """Tokens of the view at which a request compacts it."""

    used_percent: NotRequired[Union[float, None]]
    """Percent of the limit."""

    is_near_limit: bool

    is_critical: bool

    messages: int
    """Messages in view, summaries included."""

    messages_ever: int

    messages_peak: int

    summaries: int

    summaries_tokens: int

    compactions: int

    masked_results: int

    saved_tokens: int

    last_compaction: NotRequired[Union[str, None]]
    """Time in the configured zone; none before the first compaction since the start."""

    last_steps: List[StepItem]
    """Each step that the last compaction tried."""

    epoch: int
    """Number of prefix resets, and the reason of the last one."""

    reasons: List[str]

    warnings: int
    """Warnings that hold now."""

    engine_faults: List[str]
    """Faults of a plug-in context engine, the newest last."""


class ConversationItem(TypedDict):
    """The newest requests of a conversation, newest first."""

    conversation: str

    upstream: str

    requests: List[RequestItem]


class ConversationsData(TypedDict):
    """The ids of conversations, the last by name first."""

    conversations: List[str]


class DeleteByIdsData(TypedDict):
    """Result of a delete by ids."""

    memory_type: MemoryType
    """The type that the request named; `episode` when it named none."""

    success: bool
    """Always true: an id that does not exist is not an error."""

    count: NotRequired[int]
    """Quipu: number of deleted memories, including those that lost their last source."""

    message_count: NotRequired[int]
    """Quipu: number of deleted messages."""

    ledger_copies: NotRequired[int]
    """Quipu: number of daily copies of the ledger that were deleted, because they had the deleted messages."""

    missing: NotRequired[List[str]]
    """Quipu: the ids that do not exist."""

    old_history_deleted: NotRequired[bool]
    """Quipu: `history.before.git`, the history that an earlier version kept, was deleted, whole."""

    left: NotRequired[List[LeftItem]]
    """Quipu: what stays and may have deleted text, with the reason."""


class DeleteByIdsRequest(TypedDict):
    """Deletes single memories, and memories without another source. Unknown keys are refused."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    memory_type: NotRequired[Union[MemoryType, None]]

    ids: List[str]
    """The memories' ids; also accepted as `memory_ids`."""

    user_id: NotRequired[Union[str, None]]
    """Quipu: owner of the ids; needed only for ids that a person wrote with `_ep_` or `_af_` in them."""

    agent_id: NotRequired[Union[str, None]]

    reason: NotRequired[Union[Dict[str, Any], None]]
    """Accepted and ignored."""


class DeleteData(TypedDict):
    """Result of a delete."""

    filters: List[str]
    """The fields of the request that named the target."""

    count: int
    """Number of deleted memories."""

    message_count: NotRequired[int]
    """Quipu: number of deleted messages."""

    conversation_count: NotRequired[int]
    """Quipu: number of deleted contexts of conversations."""

    rewritten_count: NotRequired[int]
    """Quipu: number of memories that lost some of their messages."""

    old_history_deleted: NotRequired[bool]
    """Quipu: `history.before.git`, the history that an earlier version kept, was deleted, whole: single words cannot be taken out of it."""

    ledger_copies: NotRequired[int]
    """Quipu: number of daily copies of the ledger that were deleted, because they had the deleted text."""

    left: NotRequired[List[LeftItem]]
    """Quipu: what stays and may have deleted text, with the reason."""


class DeleteRequest(TypedDict):
    """Deletes all memory of a session, of an owner, or of an owner in a session; or what an owner has with some words. Unknown keys are refused."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    user_id: NotRequired[Union[str, None]]

    agent_id: NotRequired[Union[str, None]]

    session_id: NotRequired[Union[str, None]]

    words: NotRequired[str]
    """Quipu: delete only the owner's messages and memories that contain all of these as whole words. Case and accents do not matter."""

    keep: NotRequired[List[str]]
    """Quipu: with `words`, ids of messages and memories that stay. A memory keeps the messages that it was made from."""

    also: NotRequired[List[str]]
    """Quipu: with `words`, ids of messages that go too, as the preview shows them in `beside`."""


class DiffData(TypedDict):
    """A change as a diff: for each file its entries, with the lines that differ."""

    diff: str


class DocumentContext(TypedDict):
    """The document of a hit."""

    doc_id: str

    title: str

    summary: str


class DocumentCreateData(TypedDict):
    """A stored document; searches find it from now on."""

    doc_id: str

    category_id: str

    topic_count: int

    source_name: Union[str, None]

    md_path: str
    """The Markdown file, below `memory/`."""

    original_file_path: Union[str, None]
    """The uploaded file, in the same folder."""


class DocumentData(TypedDict):
    """A document with its topics."""

    doc_id: str

    category_id: str

    title: str

    summary: str

    source_name: Union[str, None]

    source_type: Union[str, None]

    original_file_path: Union[str, None]
    """Below `memory/`."""

    topics: List[TopicItem]

    created_at: str

    updated_at: str


class DocumentDeleteData(TypedDict):
    """Result of a delete."""

    doc_id: str

    deleted_topics: int


class DocumentForm(TypedDict):
    """The form of an upload, `multipart/form-data`."""

    file: str
    """Text, Markdown, HTML, PDF, DOCX, PPTX, XLSX or EML; the content decides the format."""

    title: Union[str, None]
    """Must have a letter or digit. Quipu: default is the document's own title."""

    source_type: NotRequired[Union[str, None]]

    category_id: NotRequired[Union[str, None]]
    """One of `GET /knowledge/categories`. Default: Quipu chooses."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class DocumentItem(TypedDict):
    """A document of a list."""

    doc_id: str

    category_id: str

    title: str

    topic_count: int

    created_at: str


class DocumentListData(TypedDict):
    """A page of documents."""

    documents: List[DocumentItem]

    total: int

    page: int

    page_size: int


class DocumentPatchData(TypedDict):
    """Result of a change."""

    doc_id: str

    updated_fields: List[str]
    """Empty if nothing changed."""

    updated_at: str


class DocumentPatchRequest(TypedDict):
    """Fields of a document to change."""

    title: NotRequired[Union[str, None]]

    category_id: NotRequired[Union[str, None]]

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class DoneData(TypedDict):
    """Done."""

    conversation_id: str


class DoomedItem(TypedDict):
    """A memory that goes."""

    id: str

    kind: str
    """`episode`, `fact`, `foresight`, `profile`, `case` or `skill`."""

    owner: str
    """Whose it is."""

    text: str

    timestamp: str


class EditData(TypedDict):
    """Result of an edit."""

    id: str

    changed: List[str]
    """The fields that were written."""


class EditRequest(TypedDict):
    """Changes the text of one memory; omitted fields stay as they are. Unknown keys are refused."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    id: str

    user_id: NotRequired[Union[str, None]]
    """Owner of the memory; needed only for an id that a person wrote with `_ep_` or `_af_` in it."""

    agent_id: NotRequired[Union[str, None]]

    subject: NotRequired[Union[str, None]]
    """One line."""

    summary: NotRequired[Union[str, None]]

    episode: NotRequired[Union[str, None]]
    """The memory's text: an episode's, or a fact's."""

    project_only: NotRequired[Union[bool, None]]
    """Of a fact: `true` if it holds only in its project, `false` if it holds for the user everywhere."""


class EndedRequest(TypedDict):
    """A sub-agent that ended."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    subagent_id: str
    """Your name for the sub-agent."""

    messages: NotRequired[List[Dict[str, Any]]]

    result: NotRequired[Union[str, None]]


class EpisodeItem(TypedDict):
    """An episode: the account of one segment of a conversation."""

    id: str

    user_id: NotRequired[Union[str, None]]
    """None for an agent's episode."""

    app_id: str

    project_id: str

    session_id: NotRequired[Union[str, None]]

    timestamp: str

    sender_ids: List[str]

    summary: str

    subject: str

    episode: str

    type: EpisodeType

    score: NotRequired[Union[float, None]]
    """Only in a search: 0 to 1."""

    atomic_facts: NotRequired[Union[List[FactItem], None]]
    """Only in a search: its matching facts, best first."""

    superseded_by: NotRequired[Union[str, None]]
    """Quipu: the episode that superseded it, if any."""

    message_ids: NotRequired[List[str]]
    """Quipu: the messages that it was made from."""

    path: NotRequired[str]
    """Quipu: the Markdown file that holds it, below `memory/`."""

    explain: NotRequired[Union[Explain, None]]


class EpisodePatch(TypedDict):
    """New text of an episode. Omitted fields stay; but a new `episode` without a `summary` gets a new summary."""

    episode: NotRequired[Union[str, None]]

    summary: NotRequired[Union[str, None]]

    subject: NotRequired[Union[str, None]]
    """One line."""


class ErrorEnvelope(TypedDict):
    """An error answer."""

    request_id: str

    error: ErrorInfo


class ErrorInfo(TypedDict):
    """The error."""

    code: ErrorCode

    message: str
    """For a person: the problem and what to do about it."""

    timestamp: str
    """When, in the display zone."""

    path: str
    """The path that was asked for."""


class ExpandData(TypedDict):
    """The result of a tool call."""

    text: str
    """Give this to the model as the tool's result."""


class ExpandRequest(TypedDict):
    """A call of the tool `context_expand`."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    id: str
    """The model's argument `id`: a message (`m17`) or a summary (`n3`)."""


class Explain(TypedDict):
    """Reasons for the rank of a hit: parts of its score, each 0 to 1 before weighting."""

    keyword: float

    vector: float

    time: NotRequired[Union[float, None]]
    """None if the query names no time."""

    freshness: float

    session: float
    """Evidence from the rest of its session or episode."""

    neighbours: float
    """Evidence from the messages before and after it."""

    terms: List[str]
    """The query's words that it contains."""

    rerank: NotRequired[Union[float, None]]
    """The reranker's score, on the reranker's own scale; none if it did not read this hit."""


class ExplicitInfo(TypedDict):
    """A statement of a profile."""

    category: str

    description: str

    evidence: str

    id: NotRequired[str]
    """Quipu: the statement's own id, for edits and deletions."""

    message_ids: NotRequired[List[str]]
    """Quipu: the messages that support it."""


class FactItem(TypedDict):
    """An atomic fact: one statement that needs no context."""

    id: str

    content: str

    score: NotRequired[Union[float, None]]
    """Only in a search: 0 to 1."""

    timestamp: str
    """Quipu: time of the statement."""

    valid_from: NotRequired[Union[str, None]]
    """Quipu: start of its validity, if it differs from `timestamp`."""

    valid_until: NotRequired[Union[str, None]]
    """Quipu: end of its validity."""

    superseded_by: NotRequired[Union[str, None]]
    """Quipu: the fact that superseded it."""

    episode_id: NotRequired[Union[str, None]]
    """Quipu: its episode."""

    session_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]
    """Quipu: its project, if that is not `default`."""

    project_only: NotRequired[bool]
    """Quipu: it holds only in its project, not for its user everywhere."""

    message_ids: NotRequired[List[str]]
    """Quipu: the messages that support it."""

    subject: NotRequired[str]
    """Quipu: the subject, if it differs from the content."""

    path: NotRequired[str]
    """Quipu: the Markdown file that holds it, below `memory/`."""

    explain: NotRequired[Union[Explain, None]]


class FilterNode(TypedDict):
    """The filter language for OpenAPI: `{"AND": [...]}`, `{"OR": [...]}`, or fields with a value or operators."""

    AND: NotRequired[Union[List[FilterNode], None]]
    """All of these; not empty."""

    OR: NotRequired[Union[List[FilterNode], None]]
    """Any of these; not empty."""

    session_id: NotRequired[Any]
    """A value, or an object of `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`. So all fields."""

    parent_type: NotRequired[Any]
    """`memcell` or `episode`."""

    parent_id: NotRequired[Any]

    timestamp: NotRequired[Any]
    """Epoch milliseconds or ISO 8601."""

    sender_id: NotRequired[Any]
    """Any sender of the memory; only `eq` and `in`."""


class FindingItem(TypedDict):
    """One problem of one memory."""

    fault: str
    """`duplicate`, `loop`, `secret`, `stale` or `unsupported`."""

    id: str
    """The memory."""

    app_id: str

    project_id: str

    path: str
    """Below `memory/`."""

    why: str

    run_id: NotRequired[Union[str, None]]
    """The run that wrote the entry, if the history knows it; `history/undo` undoes it."""


class FlushData(TypedDict):
    """Result of a flush."""

    status: FlushStatus


class FlushRequest(TypedDict):
    """Extracts memories from all messages in a session's buffer."""

    session_id: str

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    wait: NotRequired[bool]
    """Quipu: answer only when it is written and searchable."""


class ForesightItem(TypedDict):
    """Quipu: an announced event."""

    id: str

    user_id: NotRequired[Union[str, None]]

    session_id: NotRequired[Union[str, None]]

    content: str

    evidence: str
    """Text of the message."""

    timestamp: str
    """Time of the message."""

    start_time: NotRequired[Union[str, None]]

    end_time: NotRequired[Union[str, None]]
    """Exclusive end."""

    duration_days: NotRequired[Union[int, None]]

    message_ids: List[str]
    """The messages that support it."""

    path: str
    """The Markdown file that holds it, below `memory/`."""

    score: NotRequired[Union[float, None]]
    """Only in a search: 0 to 1."""


class ForkRequest(TypedDict):
    """A copy under another name."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    to: str
    """The name of the copy."""

    before: NotRequired[Union[str, None]]
    """Copy only the messages before this one (`m17`). Default: all."""


class FoundMessage(TypedDict):
    """One matching message, verbatim."""

    id: str

    session_id: NotRequired[Union[str, None]]

    sender_id: NotRequired[Union[str, None]]

    sender_name: NotRequired[Union[str, None]]

    role: NotRequired[Union[MessageRole, None]]

    content: str

    timestamp: str

    score: float

    episode_id: NotRequired[Union[str, None]]
    """The episode that contains it; none while it waits in the buffer."""

    project_id: NotRequired[Union[str, None]]
    """Its project, if that is not `default`."""

    explain: NotRequired[Union[Explain, None]]


class GetData(TypedDict):
    """A page. All arrays are always present; only the one of `memory_type` can have items."""

    episodes: List[EpisodeItem]

    profiles: List[ProfileItem]
    """At most one."""

    agent_cases: List[CaseItem]
    """With `agent_id`: the agent's cases."""

    agent_skills: List[SkillItem]
    """With `agent_id`: the agent's skills, drafts included."""

    facts: NotRequired[List[FactItem]]
    """Quipu: with `memory_type` `atomic_fact`."""

    foresights: NotRequired[List[ForesightItem]]
    """Quipu: with `memory_type` `foresight`."""

    total_count: int
    """Total number of matches."""

    count: int
    """Number of items on this page."""


class GetRequest(TypedDict):
    """A page of an owner's memories of one kind. Unknown keys are refused."""

    user_id: NotRequired[Union[str, None]]
    """Owner of the memory: exactly one of `user_id` and `agent_id`."""

    agent_id: NotRequired[Union[str, None]]

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    memory_type: MemoryType

    page: NotRequired[int]

    page_size: NotRequired[int]

    sort_by: NotRequired[SortField]

    sort_order: NotRequired[SortOrder]

    filters: NotRequired[Union[FilterNode, None]]

    with_readable_episode: NotRequired[bool]
    """Accepted; `episode` is readable."""

    as_of: NotRequired[Union[When, None]]

    standing: NotRequired[Union[MemoryStanding, None]]


class GivenData(TypedDict):
    """What memory added to a conversation, as the model sees it now."""

    head: str
    """Text beside the system text, the same in each request: core memory."""

    turns: List[GivenItem]
    """Text in single messages, the oldest first."""


class GivenItem(TypedDict):
    """What memory added to one message."""

    id: str
    """The message: `m17`."""

    memories: int
    """The number of memories in the text."""

    text: str


class GuardData(TypedDict):
    """Whether enough of the window is left for a request."""

    verdict: str
    """`ok`, `warn` or `block`."""

    window_tokens: int

    used_tokens: int

    remaining_tokens: int

    safe_tokens: int
    """Window to plan for: smaller than the real one, because a token count for another vocabulary can be a fifth too low."""

    source: str
    """Source of the window: a request (`sessionConfig`), the upstream's setting (`modelsConfig`), the server or the model's name (`model`), or none of them (`default`)."""

    events: List[str]
    """Changes since the last check: `warning`, `blocked`, `threshold-crossed`."""

    used_percent: float

    message: NotRequired[Union[str, None]]


class HealthData(TypedDict):
    """System status. The answer is 200 even if something is wrong; see `status` and `problems`."""

    status: HealthStatus

    version: str

    capabilities: Capabilities

    disabled_features: List[str]

    cascade: CascadeHealth
    """Sync from Markdown to the index."""

    memorize_queue: QueueHealth
    """Writing of messages to Markdown."""

    problems: List[str]
    """Quipu: problems, each with its remedy; empty if there are none."""

    tasks: TaskGauge
    """Quipu: unfinished and failed tasks of all tenants, including those that write memories."""

    runs: NotRequired[Union[RunGauge, None]]

    index: IndexHealthItem
    """Quipu: size of the index now."""

    broken_files: List[BrokenFileItem]
    """Quipu: files that could not be read; all others are served."""

    open_sessions: int
    """Quipu: sessions with messages that are not in an episode yet, and the number of these messages."""

    buffered_messages: int

    files: int
    """Quipu: Markdown files as last synchronised."""

    unread_files: NotRequired[int]
    """Quipu: changed files that searches do not have yet."""

    embedder: str

    chat_model: NotRequired[Union[str, None]]

    model_answers: NotRequired[ModelAnswers]
    """Quipu: what came of the chat model's answers about conversations since the start."""

    redacted: NotRequired[int]
    """Quipu: secrets that were removed from messages since the start."""

    newest_ledger_copy: NotRequired[Union[str, None]]
    """Quipu: day of the newest daily copy of the ledger."""

    near_limit: NotRequired[int]
    """Quipu: conversations in memory whose view has more than 75 % of its limit: the next turns compact them."""

    rebuilding: NotRequired[Union[Rebuilding, None]]


class HistoryData(TypedDict):
    """Changes, the newest first."""

    changes: List[ChangeItem]


class ImplicitTrait(TypedDict):
    """A trait that repeated behaviour supports."""

    trait: str

    description: str

    basis: str

    evidence: str

    id: NotRequired[str]
    """Quipu: the trait's own id, for edits and deletions."""

    message_ids: NotRequired[List[str]]
    """Quipu: the messages that support it."""


class ImportedData(TypedDict):
    """Result of an import."""

    memories: int
    """Memories and pages of the lines."""

    new_memories: int
    """Those that were not there."""

    kept_memories: int
    """Those that are different here: they stay as they are here."""

    messages: int
    """Messages that are not in an episode."""

    new_messages: int


class IndexHealthItem(TypedDict):
    """Size of the index."""

    health: str
    """`ready`, `fresh`, or the reason for a rebuild."""

    rows: int

    fragments: int

    unindexed_rows: int
    """Rows that the full-text index does not cover yet; searches find them anyway."""

    bytes_on_disk: int

    generation: int


class KnowledgeHit(TypedDict):
    """A matching topic."""

    topic_id: str

    category_id: str

    topic_name: str

    topic_path: str

    depth: int

    summary: str

    content: Union[str, None]
    """With `include_content`."""

    score: float
    """0 to 1."""

    retrieval_method: KnowledgeMethod
    """The method used: `keyword` instead of a method with vectors if the embedding model did not answer."""

    source: Union[str, None]
    """Name of its file."""

    document: DocumentContext


class KnowledgeSearchData(TypedDict):
    """Result of a search in a library."""

    hits: List[KnowledgeHit]
    """Best first."""

    total: int

    took_ms: float


class KnowledgeSearchRequest(TypedDict):
    """A search in a library."""

    query: str

    method: NotRequired[KnowledgeMethod]

    top_k: NotRequired[int]

    score_threshold: NotRequired[Union[float, None]]
    """Minimum score of a topic, 0 to 1."""

    include_content: NotRequired[bool]

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class LeftItem(TypedDict):
    """Something that a delete leaves."""

    what: str
    """A file's path, or the name of a kind of data."""

    why: str
    """Why it stays."""


class LibraryDeleteData(TypedDict):
    """Result of the delete of a library."""

    deleted_documents: int

    deleted_topics: int


class MessageItem(TypedDict):
    """One message to add. Unknown keys are ignored."""

    sender_id: str

    sender_name: NotRequired[Union[str, None]]

    role: MessageRole

    timestamp: NotRequired[int]
    """Time of the message in epoch milliseconds."""

    content: MessageContent

    tool_calls: NotRequired[Union[List[ToolCallItem], None]]

    tool_call_id: NotRequired[Union[str, None]]
    """The call that a tool's message answers; required if `role` is `tool`."""

    message_id: NotRequired[Union[str, None]]
    """Quipu: the client's own id, unique in its session. A second message with the same id is ignored."""


class ModelAnswers(TypedDict):
    """What came of a chat model's answers about conversations."""

    facts: int
    """Facts that the messages bear out."""

    left_out: int
    """Statements that Quipu left out because no message bears them out."""

    unusable: int
    """Questions to which no answer could be used: the rules extracted instead."""


class MonthItem(TypedDict):
    """The memories of a month."""

    month: str
    """`2026-03`, in the configured zone."""

    episodes: int

    facts: int


class OriginalItem(TypedDict):
    """One original."""

    id: str

    message: Dict[str, Any]
    """As it was sent."""


class OriginalsData(TypedDict):
    """Originals, oldest first; of a search, the newest first."""

    messages: List[OriginalItem]


class OverviewData(TypedDict):
    """A user's memory in numbers."""

    episodes: int

    facts: int

    events: int

    statements: int
    """Lines of the profile."""

    superseded: int
    """Facts that no longer hold."""

    months: List[MonthItem]
    """Months with memories, the earliest first."""


class OverviewRequest(TypedDict):
    """A user whose memory to count. Unknown keys are refused."""

    user_id: str

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class OwnerItem(TypedDict):
    """One owner in one tenant."""

    app_id: str

    project_id: str

    kind: str
    """`user`, `agent` or `library`."""

    id: str

    memories: int
    """Entries of the owner's Markdown files."""

    files: int

    bytes: int
    """Size of the files."""

    waiting: int
    """Of a user: messages that no episode has yet, with those of others in the same sessions."""


class OwnersData(TypedDict):
    """Owners by tenant, then kind, then id."""

    owners: List[OwnerItem]


class PastData(TypedDict):
    """Files as they were, by path."""

    files: List[PastFileItem]


class PastFileItem(TypedDict):
    """A file as it was. A file of memories has the entries that it had, without what stood between them."""

    path: str
    """Below `memory/`."""

    text: NotRequired[Union[str, None]]
    """If the request names the file, and the text is kept."""


class PinRequest(TypedDict):
    """A message to keep verbatim, or no longer."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    id: str
    """A message: `m17`."""

    pinned: NotRequired[bool]


class PreviewData(TypedDict):
    """What the deletion would remove, and what it would leave."""

    count: int
    """The memories that go."""

    named_count: NotRequired[int]
    """How many of them the request names, or have its words. They come first; the others were made from them."""

    message_count: int
    """The verbatim messages that go from the files."""

    memories: List[DoomedItem]
    """The first 500 of the memories that go: those that the request names, then those made from them."""

    messages: NotRequired[List[FoundMessage]]
    """The first 500 of the messages that go, in order of time. Their `score` is 0."""

    beside: NotRequired[List[FoundMessage]]
    """With `words`: the messages directly before and after these in their sessions. They stay, and may be about the same person without the name."""

    rewritten: NotRequired[List[DoomedItem]]
    """Episodes that stay without some of their messages, as they will be."""

    lines: NotRequired[List[str]]
    """Lines of the owner's pages (`USER.md`, `MEMORY.md`, `SOUL.md`) that go, and with `words` titles of sessions."""

    own_stays: NotRequired[List[FoundMessage]]
    """The messages of deleted memories that stay in the same memory."""

    stays: List[StayingItem]
    """The same words in the memory of others. They stay."""


class PreviewRequest(TypedDict):
    """A deletion to look at first: either `ids`, or the fields of `memory/delete`, `words` among them. Unknown keys are refused."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    user_id: NotRequired[Union[str, None]]

    agent_id: NotRequired[Union[str, None]]

    session_id: NotRequired[Union[str, None]]

    ids: NotRequired[List[str]]

    words: NotRequired[str]
    """As in `memory/delete`."""

    keep: NotRequired[List[str]]
    """As in `memory/delete`."""

    also: NotRequired[List[str]]
    """As in `memory/delete`."""


class Probe(TypedDict):
    """`/health/live` and `/health/ready`."""

    status: HealthStatus


class ProfileData(TypedDict):
    """Content of a profile."""

    summary: str
    """Its first statement."""

    explicit_info: List[ExplicitInfo]

    implicit_traits: List[ImplicitTrait]

    profile_timestamp_ms: int
    """Time of its newest statement in epoch milliseconds."""


class ProfileItem(TypedDict):
    """A user's profile."""

    id: str

    user_id: NotRequired[Union[str, None]]

    app_id: str

    project_id: str

    profile_data: ProfileData

    score: NotRequired[Union[float, None]]
    """Always null: a profile is not ranked."""


class QueueHealth(TypedDict):
    """Writing of messages to Markdown."""

    healthy: bool

    reasons: List[str]

    loop_alive: bool

    accepting: bool

    pending: int

    oldest_pending_age_s: NotRequired[Union[float, None]]

    failed: int

    loop_restarts: int
    """Restarts of a background loop after a failure, since the start."""

    last_loop_error_at: NotRequired[Union[str, None]]
    """Time of the last restart."""


class QueuedData(TypedDict):
    """A 202: the messages are on disk; a task does the rest."""

    status: QueuedStatus

    message_count: int

    pending: int
    """Unfinished tasks of this session, this one included."""

    message_ids: NotRequired[List[str]]
    """Quipu: the ids of the messages that are stored, in the order they were sent: all but those in `withheld`."""

    duplicates: NotRequired[int]
    """Quipu: number of messages that were stored before, also those deleted since. Without a `message_id` a message is the same if its session, sender, role, timestamp and content are."""

    forgotten: NotRequired[int]
    """Quipu: number of duplicates that were deleted and are left out."""

    withheld: NotRequired[List[int]]
    """Quipu: the positions in the request, from 0, of the messages that are left out."""

    restored: NotRequired[int]
    """Quipu: number of messages that were deleted before and are stored again, as `accept_forgotten` asks."""

    redacted: NotRequired[int]
    """Quipu: number of secrets removed from them before they were written."""


class QuiesceData(TypedDict):
    """How background work came to its end."""

    quiesced: bool

    drained: int
    """Number of tasks and runs that ended meanwhile."""

    pending_before: int
    """Tasks and runs that waited or were under way."""

    pending_after: int
    """Runs that wait for their time or for a retry, and tasks that wait for a disk or a file to be repaired."""

    failed_permanent: int
    """Tasks and runs that failed permanently."""


class Rebuilding(TypedDict):
    """Progress of a rebuild."""

    done: int

    total: int


RequestItem = TypedDict("RequestItem", {"at": "str", "status": "int", "prompt_tokens": "int", "cached_tokens": "NotRequired[Union[int, None]]", "evaluated_tokens": "NotRequired[Union[int, None]]", "completion_tokens": "int", "first_token_ms": "NotRequired[Union[int, None]]", "total_ms": "int", "expected_tokens": "NotRequired[Union[int, None]]", "class": "NotRequired[Union[str, None]]", "reasons": "List[str]", "injected_tokens": "int"})


class ReviewData(TypedDict):
    """Statements, in the order of their beliefs; of each the newest first."""

    statements: List[BelievedItem]

    total_count: int
    """All statements of the person."""

    open_count: int
    """Those among them that wait for an answer: facts, what was said again, and what is in doubt."""


class ReviewRequest(TypedDict):
    """A person whose statements to show. Unknown keys are refused."""

    user_id: str

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    skip: NotRequired[int]
    """Statements to leave out at the beginning."""

    limit: NotRequired[int]
    """Maximum number of statements: 1 to 100."""


class RewindRequest(TypedDict):
    """Continue from an earlier place."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    to: str
    """Continue from just before this message: `m17`."""


class RunGauge(TypedDict):
    """Number of background runs by status."""

    queued: int
    """Without the next runs of schedules."""

    running: int

    failed: int
    """Another attempt will follow."""

    dead_letters: int
    """Failed permanently; see `runs`."""


class RunItem(TypedDict):
    """A background run."""

    run_id: str

    strategy: str

    user_id: NotRequired[Union[str, None]]

    agent_id: NotRequired[Union[str, None]]

    subject: str
    """Subject of the run; empty if it concerns everything."""

    status: RunStatus

    cause: str
    """`event`, `idle`, `cron`, `counter` or `manual`."""

    reason: str

    attempt: int

    run_at: NotRequired[Union[str, None]]
    """Time of the next attempt; none unless the run waits."""

    created_at: str

    started_at: NotRequired[Union[str, None]]

    finished_at: NotRequired[Union[str, None]]

    calls: int
    """Calls of a model, and their tokens."""

    prompt_tokens: int

    completion_tokens: int

    millis: int
    """Duration of its attempts, in milliseconds."""

    change: str
    """Result of the run; empty until it succeeds."""

    error: NotRequired[Union[str, None]]


class RunPageData(TypedDict):
    """One page of runs, newest first."""

    total: int

    page: int

    page_size: int

    items: List[RunItem]


class SearchData(TypedDict):
    """Result of a search. Every array is always present."""

    episodes: List[EpisodeItem]
    """Best first, each with its facts that were found."""

    profiles: List[ProfileItem]
    """With `include_profile`: at most one."""

    agent_cases: List[CaseItem]
    """With `agent_id`: how it went about tasks, best first."""

    agent_skills: List[SkillItem]
    """With `agent_id`: the agent's approved skills, best first."""

    unprocessed_messages: List[UnprocessedMessage]
    """With a top-level `session_id` in `filters`: that session's messages that are not in an episode yet."""

    facts: NotRequired[List[FactItem]]
    """Quipu: every fact that was found, best first, also those whose episode was not."""

    foresights: NotRequired[List[ForesightItem]]
    """Quipu: announced events that match, best first."""

    messages: NotRequired[List[FoundMessage]]
    """Quipu: verbatim messages, best first, as many as `include_messages` asked for."""

    sure: NotRequired[Union[List[SureItem], None]]
    """Quipu: the hit that may stand alone as the answer; empty if nothing is sure."""

    method: NotRequired[SearchMethod]
    """Quipu: the method that was used; keyword when the embedding model did not answer."""

    time_span: NotRequired[Union[TimeSpan, None]]

    warnings: NotRequired[List[str]]
    """Quipu: what the search had to do without, and why."""

    queries: NotRequired[List[str]]
    """Quipu: with `agentic` and `llm_multiround`, the queries that the chat model added."""


class SearchRequest(TypedDict):
    """A question. Unknown keys are refused."""

    user_id: NotRequired[Union[str, None]]
    """Owner of the memory: exactly one of `user_id` and `agent_id`."""

    agent_id: NotRequired[Union[str, None]]

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    query: str

    method: NotRequired[SearchMethod]

    top_k: NotRequired[int]
    """How many memories: 1 to 100; −1 means 100."""

    radius: NotRequired[Union[float, None]]
    """Read as `min_score`; the larger of the two counts."""

    min_score: NotRequired[Union[float, None]]
    """Leaves out what scores less."""

    include_profile: NotRequired[bool]
    """Gives the user's profile too."""

    include_person: NotRequired[bool]
    """Quipu: also searches what the user said outside of any project, and what holds for them in all their projects. A token for one project gets that only with `person = true`."""

    enable_llm_rerank: NotRequired[bool]
    """Let the server's reranker order the best hits. Without the field it does so if the method is `hybrid`."""

    with_readable_episode: NotRequired[bool]
    """Accepted; `episode` is readable."""

    filters: NotRequired[Union[FilterNode, None]]

    as_of: NotRequired[Union[When, None]]

    query_time: NotRequired[Union[When, None]]

    include_messages: NotRequired[int]
    """Quipu: how many ranked verbatim messages to give as `messages`; 0 to 200."""

    max_tokens: NotRequired[Union[int, None]]
    """Quipu: cuts the answer to about this many tokens."""

    include_sure: NotRequired[bool]
    """Quipu: also gives `sure`."""

    explain: NotRequired[bool]
    """Quipu: return with each hit the reason why the search found it."""


class SkillItem(TypedDict):
    """An agent skill. A draft waits for a person's decision; do not use it as an instruction."""

    id: str

    agent_id: str

    app_id: str

    project_id: str

    name: str

    description: str
    """Purpose of the skill and when to use it."""

    content: str
    """Markdown."""

    confidence: float
    """0 to 1."""

    maturity_score: float
    """1 if a person approved it, else 0."""

    source_case_ids: List[str]
    """The cases that it was made from."""

    score: NotRequired[Union[float, None]]
    """Only in a search, which finds only approved skills: 0 to 1."""

    status: SkillState
    """Quipu: draft, approved or rejected."""

    path: NotRequired[str]
    """Quipu: its `SKILL.md`, below `memory/`."""

    explain: NotRequired[Union[Explain, None]]


class SourcesData(TypedDict):
    """The messages that a memory was made from, in order of time."""

    messages: List[FoundMessage]
    """Their `score` is 0."""


class SpawnData(TypedDict):
    """The messages that a sub-agent starts with."""

    messages: List[Dict[str, Any]]


class SpawnRequest(TypedDict):
    """A sub-agent that is about to start."""

    user_id: NotRequired[Union[str, None]]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    role: str
    """`explorer` gets 10 messages, any other role 20, besides the system text."""


class StayingItem(TypedDict):
    """Words that stay in another owner's memory."""

    user_id: str

    session_id: NotRequired[Union[str, None]]
    """The session to delete, if these words must go too."""

    messages: int
    """Number of messages."""

    example: str
    """The first of them."""


class StepItem(TypedDict):
    """One step of a compaction."""

    effort: str
    """`mask`, `compact`, `fold`, `strip` or `bare`."""

    saved_tokens: NotRequired[Union[int, None]]
    """Saved tokens; none if the step would have saved too little."""


class SureItem(TypedDict):
    """A hit, and what was said."""

    id: str

    text: str

    until: NotRequired[Union[str, None]]
    """Since when it no longer holds, if it does not."""


class SyncedData(TypedDict):
    """Result of a sync or a rebuild."""

    files: int
    """Files that were read."""

    entries_added: int

    entries_changed: int

    entries_removed: int

    broken_files: int
    """Number of unreadable files, earlier ones included; `/health` lists them."""


class TaskCounts(TypedDict):
    """Number of tasks by status. All five are always present."""

    failed: int

    pending: int
    """Always 0: a task waits as `queued`."""

    processing: int

    queued: int

    success: int


class TaskGauge(TypedDict):
    """Number of tasks by status."""

    queued: int

    processing: int

    failed: int
    """Failed permanently; see `tasks/{task_id}/retry`."""

    stuck: int
    """Queued tasks that need room on the disk or a repaired file; Quipu retries them for ever."""


class TaskItem(TypedDict):
    """One task."""

    id: str
    """The `request_id` of the 202 that made it."""

    status: TaskStatus

    task_type: TaskType

    session_id: NotRequired[str]
    """Quipu: the session that it works for."""

    error: NotRequired[Union[str, None]]
    """Why it failed."""

    error_code: NotRequired[Union[str, None]]
    """`replays_exhausted` if the last attempt failed."""

    created_at: str

    finished_at: NotRequired[Union[str, None]]


class TaskPageData(TypedDict):
    """A page of tasks, newest first."""

    total: int

    page: int

    page_size: int

    items: List[TaskItem]


class TaskStatsData(TypedDict):
    """Tasks of a stretch of time, counted."""

    by_status: TaskCounts

    start: str

    end: str

    total: int


TimeSpan = TypedDict("TimeSpan", {"from": "str", "to": "str"})


class ToolCallItem(TypedDict):
    """An assistant's tool call."""

    id: str

    type: NotRequired[str]

    function: ToolFunction


class ToolFunction(TypedDict):
    """The called function."""

    name: str

    arguments: str
    """The arguments as text; they need not be valid JSON."""


class ToolsData(TypedDict):
    """Tools to offer to your model."""

    tools: List[Dict[str, Any]]


class TopicData(TypedDict):
    """A topic with its text."""

    topic_id: str

    doc_id: str

    category_id: str

    topic_name: str

    topic_path: str

    depth: int

    summary: str

    content: str
    """Markdown."""

    content_labels: List[str]

    parent_topic_id: Union[str, None]

    children_topic_ids: List[str]

    created_at: str

    updated_at: str


class TopicItem(TypedDict):
    """A topic of a document."""

    topic_id: str

    topic_name: str

    topic_path: str
    """Names from the document's title down, with ` > ` between them."""

    depth: int
    """From 1."""

    summary: str


class TriggerData(TypedDict):
    """The triggered runs."""

    status: TriggerStatus

    name: str

    dispatched: int
    """Number of runs that the trigger started."""

    runs: List[TriggeredRun]


class TriggerRequest(TypedDict):
    """A strategy to run now."""

    name: str

    timeout: NotRequired[float]
    """Maximum number of seconds to wait for the runs."""

    force: NotRequired[bool]
    """Run the strategy even if it is disabled."""


class TriggeredRun(TypedDict):
    """A run, with its status at the time of the answer."""

    run_id: str

    status: RunStatus

    error: NotRequired[Union[str, None]]


class UndoData(TypedDict):
    """Result of an undo."""

    change: NotRequired[Union[ChangeItem, None]]


class UndoRequest(TypedDict):
    """Undoes a run. Unknown keys are refused."""

    run_id: str

    app_id: NotRequired[Union[str, None]]

    project_id: NotRequired[Union[str, None]]


class UnprocessedMessage(TypedDict):
    """A message that is not in an episode yet."""

    id: str

    app_id: str

    project_id: str

    session_id: str

    sender_id: str

    sender_name: NotRequired[Union[str, None]]

    role: MessageRole

    content: MessageContent

    timestamp: str

    tool_calls: NotRequired[Union[List[ToolCallItem], None]]

    tool_call_id: NotRequired[Union[str, None]]


class UpdateRequest(TypedDict):
    """Patches one episode. Unknown keys are refused."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    memory_type: MemoryType
    """Only `episode`; `memory/edit` changes facts too."""

    memory_id: str

    patch: EpisodePatch

    user_id: NotRequired[Union[str, None]]
    """Quipu: owner of the episode; needed only for an id that a person wrote with `_ep_` or `_af_` in it."""

    agent_id: NotRequired[Union[str, None]]

    reason: NotRequired[Union[Dict[str, Any], None]]
    """Accepted and not kept."""


class UpstreamItem(TypedDict):
    """The sums of one model server since the start. Tokens as it counts them."""

    upstream: str

    requests: int

    prompt_tokens: int

    cached_tokens: int

    evaluated_tokens: int

    hit_ratio: NotRequired[Union[float, None]]
    """Cached tokens as a share of the prompt tokens for which the server reports both."""

    extension_ratio: NotRequired[Union[float, None]]
    """Requests that extended the one before, among those that had one."""

    first_token_ms_p50: NotRequired[Union[int, None]]

    first_token_ms_p99: NotRequired[Union[int, None]]

    classes: Dict[str, Any]
    """Requests by the result for the prefix: `extension`, or the reason of the miss."""


class ViewData(TypedDict):
    """The view: the messages that the model sees of the conversation."""

    messages: List[ViewItem]


class ViewItem(TypedDict):
    """One message of the view."""

    id: str
    """`m17` for a message, `n3` for a summary."""

    role: str
    """`system`, `user`, `assistant` or `tool`."""

    tokens: int

    pinned: bool

    text: str
    """Its words, calls and results."""


class AuditQuery(TypedDict):
    """The parameters of `audit`."""

    app_id: NotRequired[str]
    """Without it, a token for all tenants means all of them."""

    project_id: NotRequired[str]


class CacheQuery(TypedDict):
    """The parameters of `cache`."""

    conversation: NotRequired[str]
    """Id of the conversation, from the header `x-quipu-conversation`. Default: the newest conversations."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class ContextArchivesQuery(TypedDict):
    """The parameters of `context_archives`."""

    user_id: NotRequired[str]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    window_tokens: NotRequired[int]
    """The window to measure against. Default: that of the last request."""


class ContextConversationsQuery(TypedDict):
    """The parameters of `context_conversations`."""

    user_id: NotRequired[str]
    """The user. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    limit: NotRequired[int]


class ContextFindQuery(TypedDict):
    """The parameters of `context_find`."""

    user_id: NotRequired[str]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    query: str
    """Words; a message must contain all of them."""

    limit: NotRequired[int]


class ContextGivenQuery(TypedDict):
    """The parameters of `context_given`."""

    user_id: NotRequired[str]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    window_tokens: NotRequired[int]
    """The window to measure against. Default: that of the last request."""


class ContextGuardQuery(TypedDict):
    """The parameters of `context_guard`."""

    user_id: NotRequired[str]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    window_tokens: NotRequired[int]
    """The window to compare with. Default: that of the last request."""

    warn: NotRequired[bool]
    """Whether the verdict may be `warn`."""

    block: NotRequired[bool]
    """Whether the verdict may be `block`; if not, it is `warn` instead."""


class ContextRecoverQuery(TypedDict):
    """The parameters of `context_recover`."""

    user_id: NotRequired[str]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    id: str
    """A message (`m17`) or a summary (`n3`), as summaries and stubs name them."""


class ContextStatsQuery(TypedDict):
    """The parameters of `context_stats`."""

    user_id: NotRequired[str]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    window_tokens: NotRequired[int]
    """The window to measure against. Default: that of the last request."""


class ContextToolsQuery(TypedDict):
    """The parameters of `context_tools`."""

    dialect: NotRequired[Literal["openai", "anthropic", "responses"]]
    """Format of messages."""


class ContextViewQuery(TypedDict):
    """The parameters of `context_view`."""

    user_id: NotRequired[str]
    """The user of the conversation. Without it: the token's user, else the configured `proxy.owner`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    conversation_id: str
    """Your name for the conversation, or the id in the header `x-quipu-conversation` of a proxied answer."""

    window_tokens: NotRequired[int]
    """The window to measure against. Default: that of the last request."""


class HistoryQuery(TypedDict):
    """The parameters of `history`."""

    app_id: NotRequired[str]
    """Only what changed within this application and project. Without it, a token for all tenants sees every change."""

    project_id: NotRequired[str]

    user_id: NotRequired[str]
    """Only changes that touch this user's files."""

    agent_id: NotRequired[str]

    before: NotRequired[int]
    """Only changes before this one."""

    limit: NotRequired[int]
    """1 to 1000."""


class PastFilesQuery(TypedDict):
    """The parameters of `past_files`."""

    app_id: NotRequired[str]
    """Without it, a token for all tenants means all of them."""

    project_id: NotRequired[str]

    at: NotRequired[str]
    """ISO 8601. A run counts from its start, an edit in a file from when Quipu found it."""

    change: NotRequired[int]
    """After this change and all before it. 0 is before the first."""

    path: NotRequired[str]
    """Return only this file, with its text."""


class DiffQuery(TypedDict):
    """The parameters of `diff`."""

    app_id: NotRequired[str]
    """Without it, a token for all tenants means all of them."""

    project_id: NotRequired[str]


class ListCategoriesQuery(TypedDict):
    """The parameters of `list_categories`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class ListDocumentsQuery(TypedDict):
    """The parameters of `list_documents`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    category_id: NotRequired[str]

    page: NotRequired[int]

    page_size: NotRequired[int]

    sort_by: NotRequired[Any]

    sort_order: NotRequired[Any]


class DeleteDocumentsQuery(TypedDict):
    """The parameters of `delete_documents`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class OneDocumentQuery(TypedDict):
    """The parameters of `one_document`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class DeleteDocumentQuery(TypedDict):
    """The parameters of `delete_document`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class OneTopicQuery(TypedDict):
    """The parameters of `one_topic`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class OneMemoryQuery(TypedDict):
    """The parameters of `one_memory`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    user_id: NotRequired[str]
    """Owner of the memory; needed only for an id that a person wrote with `_ep_` or `_af_` in it."""

    agent_id: NotRequired[str]


class MemorySourcesQuery(TypedDict):
    """The parameters of `memory_sources`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    user_id: NotRequired[str]
    """Owner of the memory; needed only for an id that a person wrote with `_ep_` or `_af_` in it."""

    agent_id: NotRequired[str]


class AddMemoryQuery(TypedDict):
    """The parameters of `add_memory`."""

    wait: NotRequired[bool]
    """Quipu: answer only when it is written and searchable."""


class ExportMemoryQuery(TypedDict):
    """The parameters of `export_memory`."""

    user_id: str

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class FlushMemoryQuery(TypedDict):
    """The parameters of `flush_memory`."""

    wait: NotRequired[bool]
    """Quipu: answer only when it is written and searchable."""


class ListOwnersQuery(TypedDict):
    """The parameters of `list_owners`."""

    app_id: NotRequired[str]
    """Without it, a token for all tenants means all of them."""

    project_id: NotRequired[str]


class ListRunsQuery(TypedDict):
    """The parameters of `list_runs`."""

    strategy: NotRequired[str]

    status: NotRequired[RunStatus]

    page: NotRequired[int]

    page_size: NotRequired[int]
    """1 to 100; more is read as 100."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class ApproveSkillQuery(TypedDict):
    """The parameters of `approve_skill`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    user_id: NotRequired[str]
    """Owner of the memory; needed only for an id that a person wrote with `_ep_` or `_af_` in it."""

    agent_id: NotRequired[str]


class RejectSkillQuery(TypedDict):
    """The parameters of `reject_skill`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    user_id: NotRequired[str]
    """Owner of the memory; needed only for an id that a person wrote with `_ep_` or `_af_` in it."""

    agent_id: NotRequired[str]


class ListTasksQuery(TypedDict):
    """The parameters of `list_tasks`."""

    session_id: NotRequired[str]

    status: NotRequired[TaskStatus]

    page: NotRequired[int]

    page_size: NotRequired[int]
    """1 to 100; more is read as 100."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]

    start: NotRequired[str]
    """Only tasks made since then: ISO 8601 or epoch milliseconds."""

    end: NotRequired[str]
    """Only tasks made before then."""

    all: NotRequired[bool]
    """Quipu: also the tasks that write memories, which no request made."""


class TaskStatsQuery(TypedDict):
    """The parameters of `task_stats`."""

    start: NotRequired[str]
    """Tasks made since then: ISO 8601 or epoch milliseconds; as long ago as finished tasks are kept when absent."""

    end: NotRequired[str]
    """Tasks made before then; now when absent."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class GetTaskQuery(TypedDict):
    """The parameters of `get_task`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]


class RetryTaskQuery(TypedDict):
    """The parameters of `retry_task`."""

    app_id: NotRequired[str]

    project_id: NotRequired[str]
