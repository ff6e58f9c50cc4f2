//! Copa: what its parameters, losses and timeouts do, by ACKs written by hand, and what
//! flows of it do to a queue. "Paper" is Arun and Balakrishnan, NSDI 2018; ccp_copa is the
//! implementation that the defaults follow (docs/copa.md).

mod alone;
mod decisions;
mod losses;
mod mode;
mod one_queue;
mod script;
mod settings;
mod window;
