//! The table of the memory API's routes.
//!
//! Owns: for each route, under both versions: method, path, access, handler, and description with input and answers.
//! Never: the behaviour of a route.

use axum::Router;
use axum::routing::MethodRouter;
use utoipa::OpenApi;

use crate::access::{Access, AccessTable};
use crate::contexts::look;
use crate::describe::versioned;
use crate::portable::JSON_LINES;
use crate::state::Gateway;
use crate::wire::add::WaitQuery;
use crate::wire::conversation::{
    AfterTurnData, AfterTurnRequest, AppendData, AppendRequest, ArchivesData, AssembleData, AssembleRequest,
    CleanupData, CleanupRequest, CompactData, CompactRequest, ContextStatsData, ConversationsData,
    ConversationsQuery, DoneData, EndedRequest, ExpandData, ExpandRequest, FindQuery, ForkRequest, GivenData,
    GuardData, GuardQuery, LookQuery, OriginalsData, PinRequest, RecoverQuery, RewindRequest, SpawnData,
    SpawnRequest, ToolsData, ToolsQuery, ViewData,
};
use crate::wire::history::{
    AuditData, DiffData, HistoryData, HistoryQuery, PastData, PastQuery, TenantQuery, UndoData, UndoRequest,
};
use crate::wire::knowledge::{
    CategoryListData, DocumentCreateData, DocumentData, DocumentDeleteData, DocumentForm, DocumentListData,
    DocumentPatchData, DocumentPatchRequest, DocumentsQuery, KnowledgeSearchData, KnowledgeSearchRequest,
    LibraryDeleteData, TopicData,
};
use crate::wire::owners::OwnersData;
use crate::wire::portable::{ExportQuery, ImportedData};
use crate::wire::runs::{QuiesceData, RunPageData, RunsQuery, TriggerData, TriggerRequest};
use crate::wire::tasks::ScopeQuery;
use crate::wire::{
    AddData, AddRequest, AnswerData, AnswerRequest, CacheData, CacheQuery, ContextData, ContextRequest,
    DeleteByIdsData, DeleteByIdsRequest, DeleteData, DeleteRequest, EditData, EditRequest, Envelope,
    FlushData, FlushRequest, GetData, GetRequest, OneQuery, OverviewData, OverviewRequest, PreviewData,
    PreviewRequest, QueuedData, ReviewData, ReviewRequest, SearchData, SearchRequest, SkillItem, SourcesData,
    StatsQuery, SyncedData, TaskItem, TaskPageData, TaskStatsData, TasksQuery, UpdateData, UpdateRequest,
};
use crate::{
    add, cache, contexts, edit, forget, history, knowledge, owners, portable, recall, review, runs, skills,
    survey, tasks, upkeep,
};

versioned! {
    /// Add messages
    ///
    /// After a 200 or 202 the messages are on disk. You can safely send a request again.
    post "/memory/add" [Own] add::add_memory(params(WaitQuery), request_body = AddRequest,)
        => ("Remembered" AddData (status = 202, description = "Accepted; `request_id` is the task", body = Envelope<QueuedData>));
    /// Write the memory of a session's buffer
    ///
    /// An unknown session, or one with an empty buffer, is `no_extraction`.
    post "/memory/flush" [Own] add::flush_memory(params(WaitQuery), request_body = FlushRequest,)
        => ("Done" FlushData (status = 202, description = "Queued behind the session's tasks", body = Envelope<QueuedData>));
    /// Search memories
    ///
    /// The search sees every write that was acknowledged before it.
    post "/memory/search" [Own, Read] recall::search_memory(SearchRequest) => ("Matching memories" SearchData);
    /// Text for a prompt
    ///
    /// Returns the memories that the proxy would add to this message, for clients that call their model themselves.
    post "/memory/context" [Own, Read] recall::memory_context(ContextRequest)
        => ("Memories as text for a prompt" ContextData);
    /// List memories
    ///
    /// A page of an owner's memories of one kind.
    post "/memory/get" [Own, Read] recall::get_memory(GetRequest) => ("A page" GetData);
    /// Delete a session, an owner, an owner's part of a session, or what has some words
    ///
    /// Quipu deletes it from the Markdown files, the ledger, the index and the history. With `words`, messages and memories of
    /// the owner go that contain all of them as whole words; an episode that loses some of its messages is rewritten from the
    /// others.
    post "/memory/delete" [Own] forget::delete_memory(DeleteRequest) => ("Forgotten" DeleteData);
    /// Delete single memories
    ///
    /// Memories without another source are deleted too. The answer lists ids that do not exist; they are not an error.
    post "/memory/delete_by_ids" [Own] forget::delete_memories_by_ids(DeleteByIdsRequest)
        => ("Forgotten" DeleteByIdsData);
    /// Count a user's memories
    ///
    /// By kind, and by month for a time line.
    post "/memory/overview" [Own, Read] survey::memory_overview(OverviewRequest) => ("The numbers" OverviewData);
    /// Look at a deletion first
    ///
    /// What `memory/delete` or `memory/delete_by_ids` would remove, and which of a person's words stay in the memory of others. It
    /// changes nothing.
    post "/memory/preview" [Own, Read] survey::preview_delete(PreviewRequest) => ("The preview" PreviewData);
    /// Show what is believed of a user
    ///
    /// Facts, statements of which it is in doubt whose words they are, and what was answered.
    post "/memory/review" [Own, Read] review::review_memory(ReviewRequest) => ("The statements" ReviewData);
    /// Say whether a statement is true
    ///
    /// A person's word: it stands in the Markdown file, and what was made of a statement that is taken back goes. `keep` brings it
    /// back. Messages stay as they are.
    post "/memory/answer" [Own] review::answer_review(AnswerRequest) => ("What it changed" AnswerData);
    /// Export a user's memory
    ///
    /// One JSON object a line: first whose memory it is, then memories with their messages, core memory, messages that no
    /// episode has yet, and, unless the token is a user's, digests of what was forgotten in the project. The same memory gives the
    /// same bytes.
    get "/memory/export" [Own] portable::export_memory(params(ExportQuery),)
        => ((status = 200, description = "The lines", body = String, content_type = JSON_LINES));
    /// Import a user's memory
    ///
    /// Lines of an export, the first line among them; a long export can come in several requests, each with that line. Quipu adds what is
    /// missing, with its ids, and changes nothing that is there.
    post "/memory/import" [Admin] portable::import_memory(request_body(content = String, content_type = JSON_LINES),)
        => ("What was new" ImportedData);
    /// Change a memory's text
    ///
    /// Quipu writes the change to the Markdown file; searches find it at once.
    post "/memory/edit" [Own] edit::edit_memory(EditRequest) => ("Changed" EditData);
    /// Patch an episode
    ///
    /// Omitted fields stay; but a new `episode` without a `summary` gets its beginning as the summary. A patch that changes
    /// nothing writes nothing.
    post "/memory/update" edit::update_memory(UpdateRequest) => ("The episode after the change" UpdateData);
    /// One memory
    ///
    /// Alone on a page, as `memory/get` returns it.
    get "/memories/{memory_id}" recall::one_memory(
        params(("memory_id" = String, Path, description = "`id` of a memory, from a search or listing"), OneQuery),
    ) => ("The memory" GetData);
    /// Show the words behind a memory
    ///
    /// The messages that a memory was made from, verbatim.
    get "/memories/{memory_id}/sources" survey::memory_sources(
        params(("memory_id" = String, Path, description = "`id` of a memory, from a search or listing"), OneQuery),
    ) => ("The messages" SourcesData);
    /// Approve a skill
    ///
    /// From now on searches with its `agent_id` find it, and only people change it.
    post "/skills/{skill_id}/approve" skills::approve_skill(
        params(("skill_id" = String, Path, description = "`id` of a skill, from a listing of `agent_skill`"), OneQuery),
    ) => ("The skill" SkillItem);
    /// Reject a skill
    ///
    /// No search finds the skill, and Quipu does not make it again while its file exists.
    post "/skills/{skill_id}/reject" skills::reject_skill(
        params(("skill_id" = String, Path, description = "`id` of a skill, from a listing of `agent_skill`"), OneQuery),
    ) => ("The skill" SkillItem);
    /// List tasks
    ///
    /// Newest first; finished tasks are kept for a week.
    get "/tasks" tasks::list_tasks(TasksQuery) => ("A page" TaskPageData);
    /// Count tasks by status
    ///
    /// Tasks created in a period; the answer contains the period.
    get "/tasks/stats" tasks::task_stats(StatsQuery) => ("The counts" TaskStatsData);
    /// One task
    ///
    /// `task_id` is the `request_id` of the 202 that made it.
    get "/tasks/{task_id}" tasks::get_task(
        params(("task_id" = String, Path, description = "The `request_id` of a 202"), ScopeQuery),
    ) => ("The task" TaskItem);
    /// Retry a task
    ///
    /// Retries a failed task, with its attempts counted from zero; 409 if it has not failed.
    post "/tasks/{task_id}/retry" [Admin] tasks::retry_task(
        params(("task_id" = String, Path, description = "The task"), ScopeQuery),
    ) => ("The queued task" TaskItem);
    /// List background runs
    ///
    /// Newest first, with reason, cost and result; Quipu keeps successful runs for a week.
    get "/runs" runs::list_runs(RunsQuery) => ("A page" RunPageData);
    /// Run a strategy now
    ///
    /// Runs the strategy's waiting and failed work; a strategy with a schedule also runs once for everything. Answers when
    /// the runs have ended, or after `timeout` seconds. Needs a token for all tenants.
    post "/ome/trigger" [Admin] runs::trigger(request_body = TriggerRequest,) => (bare "The runs" TriggerData);
    /// Wait for background runs to end
    ///
    /// Waits for tasks, syncs edits of the Markdown files, and waits for due runs; after that no run starts until the server
    /// does. Needs a token for all tenants.
    post "/cascade/quiesce" [Admin] runs::quiesce() => (bare "They have" QuiesceData);
    /// Prompt-cache use of requests
    ///
    /// For the models behind `/v1`, since the start of the process; empty if there are none.
    get "/cache" cache::cache(CacheQuery) => ("Prompt-cache hits and misses of requests" CacheData);
    /// List owners
    ///
    /// Users, agents and libraries, as far as the token sees, with counts and sizes of their files. A user whose messages wait to become
    /// an episode is listed too.
    get "/owners" owners::list_owners(TenantQuery) => ("Everybody who has memory" OwnersData);
    /// Changes of the memory files
    ///
    /// Newest first: edits by people and other programs, and background runs. A token for one scope sees what changed in it.
    get "/history" history::history(HistoryQuery) => ("The changes" HistoryData);
    /// One change as a diff
    ///
    /// Each entry that changed, with the lines that differ.
    get "/history/{change_id}" history::diff(
        params(("change_id" = String, Path, description = "Id of a change from `history`"), TenantQuery),
    ) => ("The diff" DiffData);
    /// Files as they were
    ///
    /// After a change, or at a time: the paths of all, or one with its text. Nothing that was forgotten is in them.
    get "/history/files" history::past_files(PastQuery) => ("The files" PastData);
    /// Undo a run
    ///
    /// Undoes exactly the changes of the run, as a change of its own; later changes stay. 409 if later changes touch the
    /// same memories.
    post "/history/undo" history::undo(UndoRequest) => ("Undone; searches see it at once" UndoData);
    /// Problems of the stored memories
    ///
    /// Duplicates, memories that Quipu extracted from text it had injected, secrets, ended memories, and memories without a
    /// source. It changes nothing.
    get "/audit" history::audit(TenantQuery) => ("The findings" AuditData);
    /// Update the index with changes of the Markdown files
    ///
    /// A running server sees edits by itself; this answers when all of them are searchable. Needs a token for all tenants.
    post "/index/sync" [Admin] upkeep::sync_index() => ("It is" SyncedData);
    /// Rebuild the index from the Markdown files
    ///
    /// The new index is built beside the old one and replaces it when it is complete; `rebuilding` in `/health` shows the
    /// progress. Needs a token for all tenants.
    post "/index/rebuild" [Admin] upkeep::rebuild_index() => ("Built" SyncedData);
    /// Append messages
    ///
    /// They are on disk when the answer comes. The next `assemble` contains them.
    post "/context/append" [Own] contexts::context_append(AppendRequest) => ("The ids of the messages" AppendData);
    /// Assemble the next request
    ///
    /// All messages, within the budget: compacted if due, with recalled memory in the newest message. Unless there is a
    /// reason, the request begins with the bytes of the request before it.
    post "/context/assemble" [Own] contexts::context_assemble(AssembleRequest)
        => ("A request for your model" AssembleData);
    /// Record the model's reply
    ///
    /// The turn goes to memory, and the server's token counts correct those of the next request.
    post "/context/after_turn" [Own] contexts::context_after_turn(AfterTurnRequest)
        => ("The id of the reply" AfterTurnData);
    /// Compact now
    ///
    /// A summary replaces old messages, even if the context is not full. A configured chat model writes it; without one, it
    /// is the digest alone.
    post "/context/compact" [Own] contexts::context_compact(CompactRequest)
        => ("Tokens before and after the compaction" CompactData);
    /// Drop reports
    ///
    /// Resets the counters and warnings, and drops the last compaction's steps. The conversation stays as it is.
    post "/context/cleanup" [Own] contexts::context_cleanup(CleanupRequest) => ("The reports" CleanupData);
    /// Show the figures
    ///
    /// Tokens, summaries, last compaction and warnings of the conversation.
    get "/context/stats" [Own] look::context_stats(LookQuery) => ("The figures" ContextStatsData);
    /// Check the window
    ///
    /// Whether enough of the window is left for a request.
    get "/context/guard" [Own] look::context_guard(GuardQuery) => ("The verdict" GuardData);
    /// List conversations
    ///
    /// A user's conversations, those through the proxy and those of these routes.
    get "/context/conversations" [Own] look::context_conversations(ConversationsQuery)
        => ("Their ids" ConversationsData);
    /// Show the view
    ///
    /// The messages that the model sees of the conversation.
    get "/context/view" [Own] look::context_view(LookQuery) => ("The view" ViewData);
    /// Show what memory added
    ///
    /// The text that recall and core memory added to the conversation, as far as the model still sees it.
    get "/context/given" [Own] look::context_given(LookQuery) => ("The added text" GivenData);
    /// List the summaries in view
    get "/context/archives" [Own] look::context_archives(LookQuery) => ("The summaries" ArchivesData);
    /// Recover originals
    ///
    /// A message as the client sent it, or all messages behind a summary.
    get "/context/recover" [Own] look::context_recover(RecoverQuery) => ("The originals" OriginalsData);
    /// Search originals
    ///
    /// The newest messages that contain all the words, compacted ones included.
    get "/context/find" [Own] look::context_find(FindQuery) => ("The originals" OriginalsData);
    /// Pin a message
    ///
    /// It stays verbatim through every compaction.
    post "/context/pin" [Own] contexts::context_pin(PinRequest) => ("Done" DoneData);
    /// Fork a conversation
    ///
    /// A copy under another name; the two are independent afterwards.
    post "/context/fork" [Own] contexts::context_fork(ForkRequest) => ("The copy" DoneData);
    /// Rewind a conversation
    ///
    /// It continues from just before a message. Later messages can still be recovered.
    post "/context/rewind" [Own] contexts::context_rewind(RewindRequest) => ("Done" DoneData);
    /// Start a sub-agent
    ///
    /// The messages that it starts with. Only what you append to the conversation enters it.
    post "/context/subagent/spawn" [Own] contexts::context_subagent_spawn(SpawnRequest)
        => ("Its first messages" SpawnData);
    /// End a sub-agent
    ///
    /// A plug-in context engine is notified.
    post "/context/subagent/end" [Own] contexts::context_subagent_end(EndedRequest) => ("Done" DoneData);
    /// List tools for your model
    ///
    /// The definition of `context_expand`: offer it, and answer its calls with `context/expand`.
    get "/context/tools" [Own] contexts::context_tools(ToolsQuery) => ("Tools" ToolsData);
    /// Answer `context_expand`
    ///
    /// The text of the originals, for the tool's result.
    post "/context/expand" [Own, Read] contexts::context_expand(ExpandRequest) => ("The tool's result" ExpandData);
    /// List documents
    get "/knowledge/documents" knowledge::list_documents(DocumentsQuery) => ("A page" DocumentListData);
    /// Upload a document
    ///
    /// Quipu cuts it into topics; searches find it as soon as this answers. A file that is already stored is a conflict.
    post "/knowledge/documents" knowledge::create_document(
        request_body(content = DocumentForm, content_type = "multipart/form-data"),
    ) => ((status = 201, description = "Stored", body = Envelope<DocumentCreateData>));
    /// Delete every document
    ///
    /// With the categories and all other files of the library. 204 if there is no document.
    delete "/knowledge/documents" knowledge::delete_documents(params(ScopeQuery),)
        => ("Deleted" LibraryDeleteData (status = 204, description = "Nothing to delete"));
    /// One document with its topics
    get "/knowledge/documents/{doc_id}" knowledge::one_document(
        params(("doc_id" = String, Path, pattern = "^d_[a-f0-9]{12,32}$"), ScopeQuery),
    ) => ("The document" DocumentData);
    /// Replace a document
    ///
    /// With another file, under the same id. Until this is done, and if it fails, searches find the old one.
    put "/knowledge/documents/{doc_id}" knowledge::replace_document(
        params(("doc_id" = String, Path, pattern = "^d_[a-f0-9]{12,32}$")), request_body(content = DocumentForm, content_type = "multipart/form-data"),
    ) => ("Stored" DocumentCreateData);
    /// Change a document's title or category
    patch "/knowledge/documents/{doc_id}" knowledge::patch_document(
        params(("doc_id" = String, Path, pattern = "^d_[a-f0-9]{12,32}$")), request_body = DocumentPatchRequest,
    ) => ("Changed" DocumentPatchData);
    /// Delete a document
    ///
    /// With its topics and its original file. 204 if there is no such document.
    delete "/knowledge/documents/{doc_id}" knowledge::delete_document(
        params(("doc_id" = String, Path, pattern = "^d_[a-f0-9]{12,32}$"), ScopeQuery),
    ) => ("Deleted" DocumentDeleteData (status = 204, description = "Nothing to delete"));
    /// One topic with its text
    get "/knowledge/topics/{topic_id}" knowledge::one_topic(
        params(("topic_id" = String, Path, description = "`topic_id` from a document or a search"), ScopeQuery),
    ) => ("The topic" TopicData);
    /// Search documents
    post "/knowledge/search" [Read] knowledge::search_documents(KnowledgeSearchRequest)
        => ("The topics that answer" KnowledgeSearchData);
    /// List categories
    ///
    /// With changes by people, from the library's `.taxonomy.md`.
    get "/knowledge/categories" knowledge::list_categories(ScopeQuery) => ("All categories" CategoryListData);
}
