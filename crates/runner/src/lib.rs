//! The room `runner` (see ARCHITECTURE.md).
