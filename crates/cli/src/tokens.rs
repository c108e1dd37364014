//! Tokens: those of the configuration, and those issued by `quipu token`.
//!
//! Owns: `<root>/tokens.json` with a hash of each issued token, and how a running server follows the file. Never: the access of a
//! token (the gateway's guard).

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context as _;
use gateway::{IssuedTokens, Secret, Token};
use model::{Scope, hex, unhex};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sha2::{Digest as _, Sha256};

use crate::archive::copy;
use crate::config::{Config, RoleKey, TokenPurpose};
use crate::error::{Failure, Hinted as _, name};
use crate::private::if_there;
use crate::world::secret;

/// The file of the issued tokens, in the root.
pub(crate) const FILE: &str = "tokens.json";
/// Temporary file in which the next version is written.
pub(crate) const BESIDE: &str = ".tokens.json.tmp";
/// The version that this program writes, and the newest that it reads.
const FORMAT: u32 = 1;
/// Lets people, and tools that search for secrets, recognise a token.
const PREFIX: &str = "quipu_";

/// An issued token.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IssuedToken {
    pub(crate) id: String,
    /// Hash in hexadecimal. The token is as random as its hash, so that nobody can guess it from the hash.
    sha256: String,
    #[serde(flatten)]
    pub(crate) purpose: TokenPurpose,
    pub(crate) created: String,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct TokenFile {
    format: u32,
    tokens: Vec<IssuedToken>,
}

impl TokenPurpose {
    /// The token with this secret; `place` names its source in errors.
    fn token(&self, place: &str, secret: Secret) -> Result<Token, Failure> {
        let part = |text: Option<&str>| name(place, text.unwrap_or("default"));
        let scope = match (self.app.as_deref(), self.project.as_deref()) {
            (None, None) => None,
            (app, project) => Some(Scope::new(part(app)?, part(project)?)),
        };
        let user = self.user.as_deref().map(|user| {
            proxy::name_of(user).ok_or_else(|| Failure::usage(format!("{place}: a user must not be empty")))
        });
        // A token for one user's memory needs no access to the server.
        let usual = if user.is_some() {
            RoleKey::Write
        } else {
            RoleKey::Admin
        };
        Ok(Token {
            secret,
            role: self.role.unwrap_or(usual).into(),
            scope,
            user: user.transpose()?,
            person: self.person,
        })
    }
}

/// The tokens of the configuration.
pub(crate) fn configured(config: &Config) -> Result<Vec<Token>, Failure> {
    let tokens = config.server.tokens.iter().map(|token| {
        let secret = secret("server.tokens", token.secret.as_deref().unwrap_or_default())?
            .ok_or_else(|| Failure::usage("server.tokens: a secret must not be empty"))?;
        token.token("server.tokens", Secret::new(secret))
    });
    tokens.collect()
}

/// The issued tokens of a root, oldest first.
pub(crate) fn issued(root: &Path) -> Result<Vec<IssuedToken>, Failure> {
    let file = root.join(FILE);
    let shown = file.display();
    let text = if_there(fs::read(&file)).with_context(|| format!("cannot read `{shown}`"))?;
    let Some(text) = text else { return Ok(Vec::new()) };
    let read: TokenFile = serde_json::from_slice(&text)
        .with_context(|| format!("`{shown}` is damaged"))
        .hint("restore it from a backup, or remove it and create the tokens again")?;
    if read.format > FORMAT {
        let newer = format!(
            "`{shown}` has format {}, this program knows {FORMAT}",
            read.format
        );
        return Err(Failure::failed(newer).hint("use the newer quipu that wrote it"));
    }
    Ok(read.tokens)
}

/// Issues a token and returns it; only its hash is stored.
pub(crate) fn issue(
    root: &Path,
    purpose: &TokenPurpose,
    created: String,
) -> Result<(String, IssuedToken), Failure> {
    let text = format!("{PREFIX}{}", fresh()?);
    let token = purpose.token("the token", Secret::new(&*text))?;
    let sha256 = hex(Sha256::digest(&text));
    let issued = IssuedToken {
        id: format!("t_{}", &sha256[..8]),
        sha256,
        purpose: TokenPurpose {
            app: token.scope.as_ref().map(|scope| scope.app.to_string()),
            project: token.scope.map(|scope| scope.project.to_string()),
            user: token.user.map(|user| user.to_string()),
            ..purpose.clone()
        },
        created,
    };
    change(root, |tokens| tokens.push(issued.clone()))?;
    Ok((text, issued))
}

/// Revokes a token; `None` if there is no such token.
pub(crate) fn revoke(root: &Path, id: &str) -> Result<Option<IssuedToken>, Failure> {
    let mut revoked = None;
    change(root, |tokens| {
        let at = tokens.iter().position(|token| token.id == id);
        revoked = at.map(|at| tokens.remove(at));
    })?;
    Ok(revoked)
}

/// Changes the file in one step; simultaneous commands wait for each other.
fn change(root: &Path, work: impl FnOnce(&mut Vec<IssuedToken>)) -> Result<(), Failure> {
    let file = root.join(FILE);
    let changed = || -> Result<(), Failure> {
        crate::private::folder(root)?;
        // Locks the folder, because each change replaces the file: a lock on the old file would not exclude a command that opens
        // the new one.
        let lock = File::open(root)?;
        lock.lock()?;
        let mut tokens = issued(root)?;
        work(&mut tokens);
        let (format, beside) = (FORMAT, root.join(BESIDE));
        let text = serde_json::to_vec_pretty(&TokenFile { format, tokens })?;
        copy(&mut &*text, &beside)?;
        Ok(fs::rename(&beside, &file)?)
    };
    changed().map_err(|failure| failure.context(format!("cannot change `{}`", file.display())))
}

/// The issued tokens for a running server, read from the file again whenever it has changed.
#[derive(Debug)]
pub(crate) struct Follower {
    root: PathBuf,
    seen: Mutex<SeenTokens>,
}

#[derive(Debug, Default)]
struct SeenTokens {
    state: Option<FileState>,
    /// None until the first token is issued; from then on a list, even an empty one.
    tokens: Option<Arc<[Token]>>,
}

pub(crate) type FileState = (SystemTime, u64, u64);

impl Follower {
    /// Reads the file; an unreadable file is an error, and the server does not start.
    pub(crate) fn new(root: &Path) -> Result<Self, Failure> {
        issued(root)?
            .iter()
            .try_for_each(|token| token.opens().map(drop))?;
        Ok(Self {
            root: root.to_owned(),
            seen: Mutex::default(),
        })
    }
}

impl IssuedTokens for Follower {
    fn now(&self) -> Option<Arc<[Token]>> {
        let state = state(&self.root.join(FILE));
        let mut seen = self.seen.lock();
        if seen.state != state {
            let tokens =
                issued(&self.root).and_then(|tokens| tokens.iter().map(IssuedToken::opens).collect());
            match tokens {
                Ok(tokens) => {
                    let tokens: Arc<[Token]> = tokens;
                    if !tokens.is_empty() || seen.tokens.is_some() {
                        seen.tokens = Some(tokens);
                    }
                }
                Err(Failure { error, .. }) => {
                    tracing::error!(
                        error = format!("{error:#}"),
                        "cannot read the issued tokens; keeping those of before"
                    );
                }
            }
            seen.state = state;
        }
        seen.tokens.clone()
    }
}

/// Values that change whenever the file is replaced.
pub(crate) fn state(file: &Path) -> Option<FileState> {
    let about = file.metadata().ok()?;
    Some((about.modified().ok()?, about.len(), about.ino()))
}

impl IssuedToken {
    fn opens(&self) -> Result<Token, Failure> {
        let sha256 = unhex(&self.sha256).and_then(|bytes| bytes.try_into().ok());
        let sha256 = sha256.filter(|_| self.purpose.role.is_some());
        let damaged = || {
            format!(
                "`{FILE}` is damaged: the token `{}` has no hash or no role",
                self.id
            )
        };
        let sha256 = sha256.ok_or_else(|| Failure::failed(damaged()))?;
        self.purpose.token(FILE, Secret::hashed(sha256))
    }
}

/// A random text: 256 bits in hexadecimal.
pub(crate) fn fresh() -> Result<String, Failure> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| anyhow::anyhow!("the system gives no random bytes: {error}"))?;
    Ok(hex(random))
}

#[cfg(test)]
mod tests;
