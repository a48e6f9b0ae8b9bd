//! The room `testbed` (see ARCHITECTURE.md).
