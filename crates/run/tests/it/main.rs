//! Real keepers, real agents (shell scripts), real signals; recorded conversations of real agents.

mod acp;
mod codex;
mod driven;
mod find;
mod fold;
mod gone;
mod launch;
mod limits;
mod record;
mod scripted;
mod secrets;
mod stage;
mod stop;
mod talk;
