//! Route mode, over members of every dialect, in every API a caller may speak: route.md.

mod bound;
mod by_name;
mod caller;
mod cap;
mod eligible;
mod failover;
mod giving_up;
mod half;
mod hangup;
mod heard;
mod lab;
mod learned;
mod order;
mod records;
mod relay;
mod reply;
mod sealed;
mod secret;
mod shadows;
mod silence;
mod sticky;
mod stopped;
mod tools;
mod verdicts;

pub use lab::says;
