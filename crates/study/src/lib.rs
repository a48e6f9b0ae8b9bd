//! The room `study` (see ARCHITECTURE.md).
