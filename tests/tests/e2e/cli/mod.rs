//! The program at a command line, and the server that it starts or looks for.

mod addresses;
mod background;
mod batch;
mod desk;
mod direct;
mod doctor;
mod elsewhere;
mod harmless;
mod housekeeping;
mod landing;
mod overview;
mod program;
mod questions;
mod resume;
mod run;
mod view;
