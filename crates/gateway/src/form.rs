//! A form with a file, in the client's format: `multipart/form-data`.
//!
//! Owns: its bytes. Never: the meaning of the fields.

/// A form under construction.
#[derive(Debug, Clone)]
pub struct Form {
    pub(crate) media_type: String,
    pub(crate) body: Vec<u8>,
    boundary: String,
}

impl Form {
    /// A form with a file. The boundary between the parts does not occur in the file.
    pub fn new(field: &str, name: &str, bytes: &[u8]) -> Self {
        let boundary = (0..u64::MAX)
            .map(|n| format!("quipu-form-{n:016x}"))
            .find(|line| !bytes.windows(line.len()).any(|window| window == line.as_bytes()))
            .expect("a file has fewer lines than there are numbers");
        let mut form = Self {
            media_type: format!("multipart/form-data; boundary={boundary}"),
            body: format!("--{boundary}--\r\n").into_bytes(),
            boundary,
        };
        let name = format!("; filename=\"{}\"", quoted(name));
        form.push(field, &name, bytes);
        form
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, field: &str, text: &str) -> Self {
        self.push(field, "", text.as_bytes());
        self
    }

    fn push(&mut self, field: &str, more: &str, bytes: &[u8]) {
        let end = format!("--{}--\r\n", self.boundary);
        self.body.truncate(self.body.len() - end.len());
        let head = format!(
            "--{}\r\nContent-Disposition: form-data; name=\"{field}\"{more}\r\n\r\n",
            self.boundary
        );
        for part in [head.as_bytes(), bytes, b"\r\n", end.as_bytes()] {
            self.body.extend_from_slice(part);
        }
    }
}

/// A file's name between quotes, escaped as browsers do.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
