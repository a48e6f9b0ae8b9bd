//! The room `load` (see ARCHITECTURE.md).
