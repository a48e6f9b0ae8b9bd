//! The room `trace` (see ARCHITECTURE.md).
