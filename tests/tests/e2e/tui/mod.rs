//! The dashboard, driven by keys.

mod dashboard;
mod fleet;
