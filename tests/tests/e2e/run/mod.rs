//! A run's life: its process, its questions, its end, and what a crash leaves of it.

mod approvals;
mod chaos;
mod crash;
mod gone;
mod parking;
mod queue;
mod scripts;
mod secrets;
mod stop;
mod uncommitted;
