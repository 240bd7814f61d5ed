//! The user's settings.

mod stored;
