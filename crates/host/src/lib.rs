//! The room `host` (see ARCHITECTURE.md).
