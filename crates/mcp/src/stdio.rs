//! The door on standard input and output.
//!
//! Owns: the end of the conversation with the client. Never: a word on standard output that is not the protocol's.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

use crate::api::MemoryApi;
use crate::door::Door;

/// Why the client was not served to its end.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the client did not begin with the Model Context Protocol")]
    Beginning(#[source] Box<ServerInitializeError>),
    #[error("serving the client failed")]
    Task(#[source] tokio::task::JoinError),
}

/// Serves one client until it closes standard input.
pub async fn serve<A: MemoryApi>(door: Door<A>) -> Result<(), StdioError> {
    let served = match door.serve(stdio_pipes()).await {
        Ok(served) => served,
        // A client that only looks whether the program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Beginning(Box::new(error))),
    };
    served.waiting().await.map_err(StdioError::Task)?;
    Ok(())
}
