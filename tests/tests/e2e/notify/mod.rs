//! Messages to people who are not looking.

mod alerts;
mod omni;
