//! Connections of the stacks over a path in miniature.

mod draft_cases;
mod gaps;
mod hostile_bytes;
mod ours;
mod path;
mod repetition;
mod timers;
mod window_after_loss;
