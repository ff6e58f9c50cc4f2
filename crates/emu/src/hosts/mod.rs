//! The hosts of the dumbbell: network namespaces with a TUN device each, or machines behind interfaces of this one.

pub(crate) mod device;
pub(crate) mod forwarding;
pub(crate) mod host;
pub(crate) mod interface;
pub(crate) mod namespace;
pub(crate) mod neighbours;
pub(crate) mod netlink;
pub(crate) mod netlink_message;
pub(crate) mod port;
pub(crate) mod sysctls;
pub(crate) mod tun;
