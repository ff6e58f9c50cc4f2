//! What a run is asked to do, whichever engine does it.
//!
//! | file | what |
//! |---|---|
//! | `scenario`, `group`, `link` | what to run, in integers and base units |
//! | `host` | the TCP stack of a group's hosts |
//! | `program` | programs of the user in a group's hosts |
//! | `tcp` | what TCP did otherwise in earlier releases of Linux |
//! | `receive_window` | the window of a host that does not limit a flow |
//! | `routes`, `topology` | whether routes lead over the links; where packets go, and how long it takes |
//! | `change` | changes of the path while a run goes on |
//! | `description` | the same in a line |
//! | `address_plan` | addresses of its hosts |
//! | `random` | a seed per element |
//! | `control`, `refusal` | progress and cancelling; what cannot be run |

#![forbid(unsafe_code)]

pub mod address_plan;
mod change;
mod control;
mod description;
mod ecn;
mod group;
mod host;
mod link;
pub mod linux_release;
mod order;
mod program;
pub mod random;
mod reading;
mod receive_window;
mod refusal;
mod routes;
mod scenario;
mod topology;

pub use change::{Change, ChangingPath};
pub use control::Control;
pub use ecn::GroupEcn;
pub use group::{CongestionControl, Group, RttStep, is_quic};
pub use host::{Host, ReceiverKind};
pub use link::{BOTTLENECK, Link, Queue, RateStep, check_impairments};
pub use program::{Port, Program};
pub use reading::PROMPT_BYTES;
pub use receive_window::UNLIMITED_BYTES;
pub use refusal::Refusal;
pub use scenario::{MAX_ROWS, Scenario};
pub use topology::{Path, PlacedLink, Topology, Way, leads_there, route};

pub use dumbbell_app::{Distribution, TrafficConfig, applications, distributions};
pub use dumbbell_declare::Amount;
pub use dumbbell_net::ImpairmentConfig;
pub use dumbbell_net::Limit;
pub use dumbbell_net::impair::impairments;
pub use dumbbell_net::medium::media;
pub use dumbbell_net::queue::disciplines;
