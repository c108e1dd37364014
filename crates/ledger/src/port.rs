//! The methods of a port as rows of a table.
//!
//! Owns: moving a method's arguments to the thread of a connection. Never: a statement.

/// A row has the kind of connection (`read`, `write` or `erase`), the method's name, its borrowed and its
/// owned arguments, its answer, and the work on the connection, which owns all arguments. Methods that do
/// more follow after the rows.
macro_rules! port {
    ($port:ident {
        $($way:ident $name:ident[$($lent:ident: $lent_type:ty),*]($($given:ident: $given_type:ty),*) -> $answer:ty
            = |$connection:ident| $work:expr;)*
    } $($more:tt)*) => {
        #[async_trait]
        impl $port for SqliteLedger {
            $(async fn $name(
                &self,
                $($lent: &$lent_type,)*
                $($given: $given_type,)*
            ) -> Result<$answer, LedgerError> {
                $(let $lent = $lent.to_owned();)*
                self.database.$way(move |$connection: &Connection| $work).await
            })*
            $($more)*
        }
    };
}

pub(crate) use port;
