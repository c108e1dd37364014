//! Uploads of documents in tests.
//!
//! Owns: forms as bytes. Never: expectations.

use serde_json::Value;

use crate::house::{Ask, House, get, post};

pub(crate) const SEARCH: &str = "/api/v2/knowledge/search";
pub(crate) const DOCUMENTS: &str = "/api/v2/knowledge/documents";

/// A form with a file, as a browser sends it.
pub(crate) fn form(method: &str, path: &str, name: &str, bytes: &[u8]) -> Ask {
    with_fields(method, path, name, bytes, &[])
}

/// A form with a file and further fields.
pub(crate) fn with_fields(
    method: &str,
    path: &str,
    name: &str,
    bytes: &[u8],
    fields: &[(&str, &str)],
) -> Ask {
    let mut body = Vec::new();
    for (field, value) in fields {
        let part = format!("--xyz\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!("--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    for part in [head.as_bytes(), bytes, b"\r\n--xyz--\r\n"] {
        body.extend_from_slice(part);
    }
    Ask {
        method: if method == "PUT" { "PUT" } else { "POST" },
        ..get(path)
    }
    .header("content-type", "multipart/form-data; boundary=xyz")
    .bytes(body)
}

impl House {
    /// Stores a file; returns the answer's data.
    pub(crate) async fn store(&self, name: &str, bytes: &[u8], fields: &[(&str, &str)]) -> Value {
        let reply = self
            .ask(with_fields("POST", DOCUMENTS, name, bytes, fields))
            .await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.data()
    }

    /// Every file of libraries in the vault.
    pub(crate) fn library_files(&self) -> Vec<String> {
        let paths = self.vault.paths().into_iter().map(|path| path.to_string());
        paths.filter(|path| path.contains("/libraries/")).collect()
    }

    /// The uploaded files in the vault.
    pub(crate) fn originals(&self) -> Vec<String> {
        let all = self.library_files().into_iter();
        all.filter(|path| path.contains("/originals/")).collect()
    }
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} in {value}"))
}

pub(crate) fn at(id: &str) -> String {
    format!("{DOCUMENTS}/{id}")
}

pub(crate) fn delete(path: &str) -> Ask {
    Ask {
        method: "DELETE",
        ..get(path)
    }
}

pub(crate) fn patch(path: &str, body: &Value) -> Ask {
    Ask {
        method: "PATCH",
        ..post(path, body)
    }
}
