//! Tasks and what is written on their cards.

mod cards;
mod images;
mod labels;
