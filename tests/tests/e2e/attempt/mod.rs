//! Attempts: started, continued, retried, shown in a demo.

mod chat;
mod demo;
mod drafts;
mod flow;
mod in_place;
mod retry;
mod start;
