//! Seats, turns, the router, reserves, mergers, evidence and cooldowns: what they do case by case, and what must hold in the long
//! run.

mod bench;
mod cooldowns;
mod evidence;
mod explained;
mod explorers;
mod leaders;
mod long_run;
mod mergers;
mod reserves;
mod seats;
mod turn_properties;
mod turns;
