//! The room `stats` (see ARCHITECTURE.md).
