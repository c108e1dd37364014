//! A deletion comes back from its line as it was.

use model::{EntryId, Name, Owner, Scope, SessionId, SessionKey};

use super::{forget_of, line_of};
use crate::api::{Forget, WordsTarget};

#[test]
fn a_deletion_comes_back_from_its_line() {
    let name = |text: &str| Name::parse(text).expect("a name");
    let (scope, owner) = (Scope::new(name("app"), name("boat")), Owner::user(name("ann")));
    let key = SessionKey::new(scope.clone(), SessionId::new("ann/50% off"));
    let some = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    for forget in [
        Forget::Session(key.clone()),
        Forget::Owner(scope.clone(), owner.clone()),
        Forget::OwnerInSession(key, Owner::agent(name("bot"))),
        Forget::Entries(
            scope.clone(),
            owner.clone(),
            ["a", "%09"].map(EntryId::new).into(),
        ),
        Forget::Words(WordsTarget {
            scope,
            owner,
            words: "Petra\tand\r\n100%0A".to_owned(),
            keep: some(&["m_1", "m_2"]),
            also: some(&["m_3"]),
        }),
    ] {
        let line = line_of(&forget);
        assert!(!line.contains(['\n', '\r']), "{line}");
        assert_eq!(forget_of(&line).as_ref(), Some(&forget), "{line}");
    }
    assert_eq!(forget_of("a newer kind\tapp\tboat\tuser\tann"), None);
}
