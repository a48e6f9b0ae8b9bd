//! The room `store` (see ARCHITECTURE.md).
