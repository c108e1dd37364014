//! Merges episodes about the same thing into one.
//!
//! Owns: the text of a merged episode, and when to make one. Never: removing an episode; the merged one supersedes its
//! members, which stay readable and are still found for their time.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::Prompt;
use model::{MessageId, SenderId, Timestamp, Zone};

use crate::consolidate::answer::{DATA_RULE, is_borne_out, numbered, text};
use crate::consolidate::cluster;
use crate::consolidate::text::{hash, plain};
use crate::sentence::sentences;

/// Maximum number of clusters merged in a run, the biggest first.
pub const CLUSTERS_MAX: usize = 10;
/// A cluster of fewer episodes is left as it is.
const MEMBERS_MIN: usize = 2;

const SUBJECT_CHARS_MAX: usize = 120;
const LINE_CHARS_MAX: usize = 400;
const SUMMARY_LINES_MAX: usize = 3;
const BODY_LINES_MAX: usize = 60;
const BODY_CHARS_MAX: usize = 8_000;
const TOKENS_MAX: u32 = 1_200;

/// An episode as reflection sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownEpisode<'a> {
    pub id: &'a str,
    pub subject: &'a str,
    pub summary: &'a str,
    pub time: Timestamp,
    pub sources: &'a [MessageId],
    pub senders: &'a [SenderId],
}

/// An existing merged episode.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedEpisode<'a> {
    pub id: &'a str,
    /// Its cluster.
    pub cluster: &'a str,
    pub subject: &'a str,
    pub body: &'a str,
    pub supersedes: Vec<&'a str>,
}

/// A merged episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    pub subject: String,
    pub summary: String,
    pub body: String,
    /// The cluster's id, computed from the ids of its members.
    pub cluster: String,
    pub members: Vec<String>,
    pub sources: Vec<MessageId>,
    pub senders: Vec<SenderId>,
    /// When the last of it happened.
    pub time: Timestamp,
}

impl Merged {
    /// Its id: `ep_` and 16 hexadecimal digits, computed from its cluster and its content.
    pub fn id(&self) -> String {
        id(&self.cluster, &self.subject, &self.body)
    }
}

fn id(cluster: &str, subject: &str, body: &str) -> String {
    format!("ep_{}", hash(&[cluster, subject, body], 16))
}

impl MergedEpisode<'_> {
    /// Whether it is unchanged since it was written.
    pub fn is_ours(&self) -> bool {
        self.id == id(self.cluster, self.subject, self.body)
    }
}

/// A cluster to merge.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<'a> {
    /// Its members, in order of time.
    pub members: Vec<&'a KnownEpisode<'a>>,
    /// Our merged episodes of a part of the cluster, which the new one replaces.
    pub replaces: Vec<String>,
}

/// The clusters that a run must merge: those without an up-to-date merged episode. A merged episode
/// that a person changed stays as it is.
pub fn plans<'a>(clusters: &[Vec<&'a KnownEpisode<'a>>], standing: &[MergedEpisode<'_>]) -> Vec<Plan<'a>> {
    let mut plans: Vec<Plan<'_>> = Vec::new();
    for members in clusters.iter().filter(|members| members.len() >= MEMBERS_MIN) {
        let ids: BTreeSet<&str> = members.iter().map(|told| told.id).collect();
        let cluster = cluster::id(ids.iter().copied());
        let mut tell = standing
            .iter()
            .filter(|merged| merged.supersedes.iter().any(|id| ids.contains(id)))
            .peekable();
        let is_settled = |merged: &MergedEpisode<'_>| merged.cluster == cluster || !merged.is_ours();
        let replaces: Option<Vec<String>> = tell
            .by_ref()
            .map(|merged| (!is_settled(merged)).then(|| merged.id.to_owned()))
            .collect();
        if let Some(replaces) = replaces {
            plans.push(Plan {
                members: members.clone(),
                replaces,
            });
        }
    }
    plans.sort_by_key(|plan| {
        (
            Reverse(plan.members.len()),
            plan.members[0].time,
            plan.members[0].id,
        )
    });
    plans.truncate(CLUSTERS_MAX);
    plans
}

/// A merged episode made of its members' texts: a dated line for each, in order of time.
pub fn merged(members: &[&KnownEpisode<'_>], zone: &Zone) -> Option<Merged> {
    let last = members.last()?;
    let from = members.len().saturating_sub(BODY_LINES_MAX);
    let lines: Vec<String> = members[from..].iter().map(|told| line(told, zone)).collect();
    let body = lines.join("\n");
    let summary: Vec<&str> = lines
        .iter()
        .rev()
        .take(SUMMARY_LINES_MAX)
        .rev()
        .map(String::as_str)
        .collect();
    let subject = format!(
        "{} (and {} before)",
        plain(last.subject, SUBJECT_CHARS_MAX),
        members.len() - 1
    );
    Some(of_members(members, subject, summary.join(" "), body))
}

fn line(told: &KnownEpisode<'_>, zone: &Zone) -> String {
    let said = if told.summary.trim().is_empty() {
        told.subject
    } else {
        told.summary
    };
    format!(
        "On {}: {}",
        model::date_in_words(zone.date(told.time)),
        plain(said, LINE_CHARS_MAX)
    )
}

fn of_members(members: &[&KnownEpisode<'_>], subject: String, summary: String, body: String) -> Merged {
    let mut sources = Vec::new();
    let mut senders = BTreeSet::new();
    for told in members {
        sources.extend(told.sources.iter().cloned());
        senders.extend(told.senders.iter().cloned());
    }
    Merged {
        subject,
        summary,
        body,
        cluster: cluster::id(members.iter().map(|told| told.id)),
        members: members.iter().map(|told| told.id.to_owned()).collect(),
        sources,
        senders: senders.into_iter().collect(),
        time: members.iter().map(|told| told.time).max().unwrap_or_default(),
    }
}

const SYSTEM: &str = "\
You get numbered summaries of talks about one matter between <talks> and </talks>, in order of time. Tell the matter as one \
account: what came first, what changed, how it stands now. Leave nothing out that a later talk does not take back.
- content: at most 300 words, in plain sentences with the names, numbers and full dates of the summaries
- title: at most ten words

Example:
{\"content\":\"On 2 March 2024 Ada's roof leaked. On 9 March 2024 Ben repaired it.\",\"title\":\"Ada's roof\"}
Wrong: \"It was fixed soon after.\" (what, when, by whom)";

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["content","title"],"properties":{"content":{"type":"string"},"title":{"type":"string"}}}"#;

/// The one request for a merged episode.
pub fn request(members: &[&KnownEpisode<'_>], zone: &Zone) -> Prompt {
    let from = members.len().saturating_sub(BODY_LINES_MAX);
    let lines: Vec<String> = members[from..].iter().map(|told| line(told, zone)).collect();
    let user = numbered("talks", lines.iter().map(String::as_str), LINE_CHARS_MAX + 40);
    let system = format!("{SYSTEM}\n{DATA_RULE}");
    Prompt::new(system, user, ("merged_episode", SCHEMA), TOKENS_MAX)
}

/// The merged episode in an answer to [`request`], with the sentences that its members support, and
/// the number of sentences left out; none if nothing remains.
pub fn parse_answer(answer: &str, members: &[&KnownEpisode<'_>], zone: &Zone) -> Option<(Merged, usize)> {
    let value = crate::find_json(answer, "content")?;
    let by_rules = merged(members, zone)?;
    let told = plain(text(&value, &["content"])?, BODY_CHARS_MAX);
    let known: Vec<String> = members
        .iter()
        .map(|told| format!("{}. {}", told.subject, line(told, zone)))
        .collect();
    let is_told = |said: &&str| known.iter().any(|known| is_borne_out(said, &[known]));
    let (kept, dropped): (Vec<&str>, Vec<&str>) = sentences(&told).into_iter().partition(is_told);
    let kept: Vec<&str> = kept.into_iter().map(str::trim).collect();
    let title = text(&value, &["title"]).filter(is_told);
    let subject = title.map_or(by_rules.subject, |title| plain(title, SUBJECT_CHARS_MAX));
    let body = kept.join(" ");
    (!body.is_empty()).then(|| {
        (
            of_members(members, subject, by_rules.summary, body),
            dropped.len(),
        )
    })
}
