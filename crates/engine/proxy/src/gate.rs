//! Who may call a model server now.
