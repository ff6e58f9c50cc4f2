//! Copa: the effect of its parameters, losses and timeouts, with hand-written ACKs, and the effect
//! of its flows on a queue. "Paper" is Arun and Balakrishnan, NSDI 2018; ccp_copa is the
//! implementation that the defaults follow (docs/copa.md).

mod agent;
mod alone;
mod decisions;
mod losses;
mod mode;
mod one_queue;
mod script;
mod settings;
mod window;
