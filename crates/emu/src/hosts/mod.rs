//! The hosts of the dumbbell: network namespaces with a TUN device each.

pub(crate) mod host;
pub(crate) mod namespace;
pub(crate) mod netlink;
pub(crate) mod tun;
