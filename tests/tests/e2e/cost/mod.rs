//! What agents use, and what it costs.

mod usage;
