//! What every model call costs, so that tests can say what an agent must report.

/// All of the input, the cached part included.
pub const INPUT: i64 = 1234;
pub const CACHED: i64 = 1000;
pub const OUTPUT: i64 = 56;
/// The part of the output that was thought.
pub const REASONING: i64 = 7;
