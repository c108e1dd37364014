//! The door on standard input and output.
//!
//! Owns: the end of the session with the client. Never: output that is not a message of the protocol.

use gateway::wire::json::mended;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, DuplexStream};
use tokio::task::JoinSet;

use crate::api::MemoryApi;
use crate::door::Door;

/// Why serving a client failed.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the client did not begin with the Model Context Protocol")]
    Beginning(#[source] Box<ServerInitializeError>),
    #[error("serving the client failed")]
    Task(#[source] tokio::task::JoinError),
}

/// Serves one client until it closes standard input.
pub async fn serve<A: MemoryApi>(door: Door<A>) -> Result<(), StdioError> {
    let (input, output) = stdio_pipes();
    let mut tasks = JoinSet::new();
    let served = match door.serve((mended_lines(input, &mut tasks), output)).await {
        Ok(served) => served,
        // A client that only checks whether the program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Beginning(Box::new(error))),
    };
    served.waiting().await.map_err(StdioError::Task)?;
    Ok(())
}

/// Capacity of the pipe to the reader, in bytes.
const AHEAD_BYTES: usize = 64 << 10;

/// Replaces half a surrogate pair in the client's lines by U+FFFD: the library would leave such a request unanswered.
fn mended_lines(input: impl AsyncRead + Send + Unpin + 'static, tasks: &mut JoinSet<()>) -> DuplexStream {
    let (mut to, from) = tokio::io::duplex(AHEAD_BYTES);
    tasks.spawn(async move {
        let (mut lines, mut line) = (BufReader::new(input), Vec::new());
        while lines
            .read_until(b'\n', &mut line)
            .await
            .is_ok_and(|read| read > 0)
            && to.write_all(&mended(&line)).await.is_ok()
        {
            line.clear();
        }
    });
    from
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn half_an_emoji_reaches_the_library_as_valid_unicode() {
        let mut read = String::new();
        let input = &br#"{"text":"loft \ud83d"}"#[..];
        let mut tasks = JoinSet::new();
        mended_lines(input, &mut tasks)
            .read_to_string(&mut read)
            .await
            .unwrap();
        assert_eq!(read, r#"{"text":"loft \ufffd"}"#);
    }
}
