//! Rules about the source itself.

mod environment;
mod layers;
mod rooms;
