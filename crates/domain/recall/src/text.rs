//! Text analysis.
