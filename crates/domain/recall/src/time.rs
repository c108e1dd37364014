//! Time expressions.
