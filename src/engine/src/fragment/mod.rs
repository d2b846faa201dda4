//! How much a placement wastes: bid prices for hosts with devices.
//!
//! A host is devices, each with an amount left, and amounts beside them (cpu,
//! memory) that the devices of the host share. What is left of a host is worth
//! what may still be placed there, and a placement wastes by how much more
//! than its own worth it lowers that. To know what may still be placed, one
//! must know what will be asked for: a [`Mix`] counts the shapes of requests
//! that have arrived, and [`Prices::learn`] asks how the free room of all hosts
//! would be used best by further arrivals of that mix, as many as fill it.
//!
//! That is a cutting-stock problem, relaxed in two ways until one host can be
//! valued in a microsecond (Lagrangian relaxation, network revenue management's
//! *bid prices*):
//!
//! * That requests are few is said by a price per shape: what one more arrival
//!   of it would bring. Filling a host with small requests that hardly ever come
//!   is then worth little, and one of which there are too many has a price below
//!   nothing: it will take room whether that is good or not.
//! * That devices of a host share its cpu and memory is said by a price of one of
//!   them per host: of a few that are tried, the one by which the host is worth
//!   least. So a host with idle devices and little cpu is known to be worth
//!   little, and so is one with plenty of both in the wrong proportion.
//!
//! What remains is a table per kind of host and price: the worth of one device
//! with so much left, and of so many untouched devices, which requests for
//! several need together. Prices of shapes are moved until the room asked of
//! each shape is what will arrive of it. Choices are weighed softly (the
//! logarithm of a sum of exponentials, not a maximum), so that this settles.
//!
//! Nothing here knows a clock or chance: the same mix, rooms and earlier prices
//! give the same prices.

mod flow;
mod ladder;
mod learner;
mod market;
mod mix;
mod prices;
mod room;
#[cfg(test)]
mod tests;

pub use learner::Learner;
pub use mix::Mix;
pub use prices::Prices;
pub use room::{Demand, Kind, Need, Room, SIDES};
