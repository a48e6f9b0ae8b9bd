//! The room `report` (see ARCHITECTURE.md).
