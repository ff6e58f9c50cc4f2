//! Queue disciplines, impairments, media and networks from outside.

mod any_queue;
mod kernel_queues;
mod live_changes;
mod queue_statistics;
mod random_impairments;
mod random_media;
mod random_networks;
mod random_queues;
mod recomputed;
mod tclink;
