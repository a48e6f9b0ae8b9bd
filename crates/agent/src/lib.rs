//! The room `agent` (see ARCHITECTURE.md).
