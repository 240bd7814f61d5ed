//! The tools that agents direct Forge with: what they promise in their descriptions, and what they do.

mod promises;
mod waits;
mod work;
