//! Any body of a request: it is read or refused with a reason, and a request that was read can be written and read again.

#![no_main]

use gateway::wire::{
    AddRequest, ContextRequest, DeleteByIdsRequest, DeleteRequest, EditRequest, FlushRequest, GetRequest,
    Invalid, SearchRequest, UpdateRequest,
};
use libfuzzer_sys::fuzz_target;
use model::{Scope, Zone};
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, body)) = bytes.split_first() else {
        return;
    };
    let (home, zone) = (Scope::default(), Zone::utc());
    match which % 9 {
        0 => checked(body, |request: AddRequest| request.into_add(&home).map(drop)),
        1 => checked(body, |request: SearchRequest| {
            request.search(&home, &zone).map(drop)
        }),
        2 => checked(body, |request: GetRequest| request.list(&home, &zone).map(drop)),
        3 => checked(body, |request: ContextRequest| request.parts(&home).map(drop)),
        4 => checked(body, |request: DeleteRequest| request.target(&home).map(drop)),
        5 => checked(body, |request: DeleteByIdsRequest| request.parts(&home).map(drop)),
        6 => checked(body, |request: EditRequest| request.parts(&home).map(drop)),
        7 => checked(body, |request: UpdateRequest| request.parts(&home).map(drop)),
        _ => checked(body, |request: FlushRequest| request.session(&home).map(drop)),
    }
});

fn checked<T: DeserializeOwned + Serialize>(body: &[u8], check: impl Fn(T) -> Result<(), Invalid>) {
    let first = match gateway::wire::json::from_slice::<T>(body) {
        Ok(request) => {
            let written = serde_json::to_vec(&request).expect("a request is JSON");
            let again = gateway::wire::json::from_slice::<T>(&written).map(drop);
            assert_eq!(
                again,
                Ok(()),
                "what is written is read: {}",
                String::from_utf8_lossy(&written)
            );
            check(request)
        }
        Err(invalid) => Err(invalid),
    };
    if let Err(invalid) = first {
        assert!(
            !invalid.problem.is_empty() && invalid.to_string().chars().count() <= 1_000,
            "{invalid}"
        );
    }
}
