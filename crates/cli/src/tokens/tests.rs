//! Tokens on disk, and in a running server.

use tempfile::TempDir;

use super::*;

fn purpose(user: Option<&str>, role: RoleKey) -> TokenPurpose {
    TokenPurpose {
        role: Some(role),
        user: user.map(str::to_owned),
        ..TokenPurpose::default()
    }
}

fn issue_at(root: &Path, user: &str) -> (String, IssuedToken) {
    issue(root, &purpose(Some(user), RoleKey::Read), "2026-11-24".to_owned()).expect("issued")
}

#[test]
fn only_the_hash_of_a_token_is_stored() {
    let root = TempDir::new().expect("a folder");
    let (secret, token) = issue_at(root.path(), "ana");
    assert_eq!(secret.len(), PREFIX.len() + 64);
    let file = fs::read_to_string(root.path().join(FILE)).expect("read");
    assert!(!file.contains(secret.trim_start_matches(PREFIX)), "{file}");
    assert_eq!(issued(root.path()).expect("read"), [token]);
    assert_ne!(issue_at(root.path(), "ana").0, secret);
}

#[test]
fn a_server_follows_the_file_and_stays_closed_after_the_last_token() {
    let root = TempDir::new().expect("a folder");
    let follower = Follower::new(root.path()).expect("read");
    let users = || {
        let tokens = follower.now()?;
        let users = tokens
            .iter()
            .map(|token| token.user.clone().expect("a user").to_string());
        Some(users.collect::<Vec<_>>())
    };
    assert_eq!(users(), None);
    let (_, ana) = issue_at(root.path(), "ana");
    assert_eq!(users(), Some(vec!["ana".to_owned()]));
    let (_, bob) = issue_at(root.path(), "bob");
    revoke(root.path(), &ana.id)
        .expect("revoked")
        .expect("it was there");
    assert_eq!(users(), Some(vec!["bob".to_owned()]));
    assert_eq!(revoke(root.path(), "t_none").expect("looked"), None);
    fs::write(root.path().join(FILE), "{").expect("written");
    assert_eq!(users(), Some(vec!["bob".to_owned()]), "those of before");
    Follower::new(root.path()).expect_err("a server does not start with a damaged file");
    fs::remove_file(root.path().join(FILE)).expect("removed");
    assert_eq!(
        users(),
        Some(Vec::new()),
        "who takes back all does not open the server"
    );
    drop(bob);
    assert!(
        Follower::new(root.path()).expect("read").now().is_none(),
        "a new start"
    );
}

#[test]
fn a_file_of_a_newer_version_is_refused_with_a_reason() {
    let root = TempDir::new().expect("a folder");
    fs::write(root.path().join(FILE), r#"{"format": 2, "tokens": []}"#).expect("written");
    let failure = issued(root.path()).expect_err("refused");
    assert!(
        failure
            .error
            .to_string()
            .contains("format 2, this program knows 1")
    );
    assert!(failure.hint.expect("a hint").contains("newer quipu"));
}

#[test]
fn simultaneously_issued_tokens_are_all_stored() {
    let root = TempDir::new().expect("a folder");
    std::thread::scope(|threads| {
        for n in 0..8 {
            let root = root.path();
            threads.spawn(move || issue_at(root, &format!("user{n}")));
        }
    });
    assert_eq!(issued(root.path()).expect("read").len(), 8);
}
