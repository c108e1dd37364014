//! The contract of every ledger as running code: each function takes an empty ledger and panics if it breaks
//! the ports.
//!
//! Owns: the meaning of `Transcripts`, `Jobs`, `FileChanges`, `Conversations`, `History` and `Runs`. Never:
//! durability across a restart.
//!
//! Reading order: [`transcripts`], [`sweeps`], [`forgotten_words`], [`carried`], [`jobs`], [`copies`], [`changes`],
//! [`conversations`], [`history`], [`runs`]; [`check_all`] runs all of them.

pub mod carried;
pub mod changes;
pub mod conversations;
pub mod copies;
pub mod forgotten_words;
pub mod history;
pub mod jobs;
pub mod objects;
mod run_sweeps;
pub mod runs;
pub mod sweeps;
pub mod transcripts;

use ports::runs::Runs;
use ports::{Conversations, FileChanges, History, Jobs, Retention, Transcripts};

/// Four ports in one store: a cut in one shows in the others.
pub trait Ledger: Transcripts + Jobs + FileChanges + Retention {}

impl<T: Transcripts + Jobs + FileChanges + Retention> Ledger for T {}

/// Runs the whole contract, each function on a ledger of its own.
pub async fn check_all<L: Ledger + Conversations + History + Runs>(fresh: impl Fn() -> L) {
    transcripts::everything_comes_back_in_order(&fresh()).await;
    transcripts::a_client_id_makes_a_retry_harmless(&fresh()).await;
    transcripts::an_append_is_all_or_none(&fresh()).await;
    transcripts::a_cut_moves_messages_once(&fresh()).await;
    transcripts::a_cut_is_all_or_none(&fresh()).await;
    transcripts::an_append_cuts_the_buffer_that_it_completes(&fresh()).await;
    transcripts::an_append_cuts_no_other_buffer(&fresh()).await;
    transcripts::a_buffer_is_the_tail_of_all_who_speak(&fresh()).await;
    transcripts::a_memcell_is_a_tail_until_it_is_written(&fresh()).await;
    transcripts::messages_are_found_by_id_in_their_scope(&fresh()).await;
    transcripts::buffered_messages_are_counted(&fresh()).await;
    transcripts::a_title_is_its_sessions(&fresh()).await;
    sweeps::check_all(&fresh).await;
    forgotten_words::a_list_that_is_sent_again_stays_out(&fresh()).await;
    forgotten_words::words_that_are_said_anew_are_kept(&fresh()).await;
    forgotten_words::a_single_message_is_known_by_its_neighbour_time_or_id(&fresh()).await;
    forgotten_words::one_commit_accepts_forgotten_messages(&fresh()).await;
    forgotten_words::a_retry_without_a_client_id_is_harmless(&fresh()).await;
    forgotten_words::a_repeat_key_stands_for_time_and_content(&fresh()).await;
    forgotten_words::a_log_adds_only_messages_it_did_not_copy(&fresh()).await;
    carried::carried_messages_are_known_elsewhere(&fresh()).await;
    carried::a_message_without_its_client_id_is_recognised(&fresh()).await;
    carried::an_adopted_segment_is_there_once(&fresh()).await;
    carried::waiting_messages_are_counted_by_user(&fresh()).await;
    jobs::a_job_is_queued_once(&fresh()).await;
    jobs::a_session_has_one_job_at_a_time(&fresh()).await;
    jobs::memcells_of_a_session_are_claimed_together(&fresh()).await;
    jobs::only_a_lease_is_given_back(&fresh()).await;
    jobs::a_lease_ends(&fresh()).await;
    jobs::a_holder_renews_its_lease(&fresh()).await;
    jobs::nothing_waits_beyond_a_start(&fresh()).await;
    jobs::a_failed_attempt_waits_or_gives_up(&fresh()).await;
    jobs::a_job_that_was_given_up_is_tried_again(&fresh()).await;
    jobs::a_job_without_lease_does_not_end(&fresh()).await;
    jobs::a_page_shows_one_scope_newest_first(&fresh()).await;
    jobs::a_page_shows_a_stretch_of_time(&fresh()).await;
    jobs::old_successes_go_and_failures_stay(&fresh()).await;
    copies::check_all(&fresh).await;
    changes::a_record_comes_back(&fresh()).await;
    changes::files_that_share_are_listed(&fresh()).await;
    changes::an_append_extends_a_record(&fresh()).await;
    changes::an_append_after_an_unknown_one_changes_nothing(&fresh()).await;
    changes::broken_files_are_listed(&fresh()).await;
    changes::facts_and_users_are_listed(&fresh()).await;
    conversations::a_log_comes_back_byte_for_byte(&fresh()).await;
    conversations::an_append_goes_where_its_caller_saw_the_end(&fresh()).await;
    conversations::a_key_makes_a_retry_harmless(&fresh()).await;
    conversations::an_item_is_there_once(&fresh()).await;
    conversations::items_come_by_number(&fresh()).await;
    conversations::words_are_found_in_any_script(&fresh()).await;
    conversations::a_replaced_record_is_not_found(&fresh()).await;
    conversations::a_replacement_is_all_or_none(&fresh()).await;
    conversations::forks_are_independent(&fresh()).await;
    conversations::tenants_do_not_reach_each_other(&fresh()).await;
    conversations::conversations_are_listed_by_the_beginning_of_their_names(&fresh()).await;
    conversations::sweeps_take_conversations(&fresh()).await;
    objects::an_object_is_known_as_its_owners(&fresh()).await;
    objects::the_newest_objects_of_an_owner_are_known(&fresh()).await;
    objects::sweeps_take_objects(&fresh()).await;
    check_history(&fresh).await;
    check_runs(fresh).await;
}

async fn check_history<L: History>(fresh: &impl Fn() -> L) {
    history::versions_make_a_chain(&fresh()).await;
    history::versions_are_found(&fresh()).await;
    history::a_state_before_the_history_has_no_author(&fresh()).await;
    history::a_file_settles_its_versions(&fresh()).await;
    history::a_write_is_tried_again(&fresh()).await;
    history::a_write_that_failed_leaves_nothing(&fresh()).await;
    history::erased_versions_are_gone(&fresh()).await;
    history::versions_belong_to_their_owners(&fresh()).await;
}

async fn check_runs<L: Ledger + Conversations + Runs>(fresh: impl Fn() -> L) {
    runs::a_run_lives_and_ends(&fresh()).await;
    runs::equal_work_waits_once(&fresh()).await;
    runs::a_waiting_run_is_moved(&fresh()).await;
    runs::a_failed_run_waits_or_is_given_up(&fresh()).await;
    runs::a_person_goes_first(&fresh()).await;
    runs::a_run_is_given_back(&fresh()).await;
    runs::a_threshold_counts(&fresh()).await;
    runs::costs_add_up(&fresh()).await;
    runs::runs_are_listed(&fresh()).await;
    run_sweeps::sweeps_take_runs(&fresh()).await;
}
