//! Virtual networks: connections in two of them are apart, also with the same addresses.

use std::fmt;

/// The virtual network that a packet is in, by the tags and headers around it: VLANs, the VNI of VXLAN and Geneve, the
/// key of GRE. Labels that differ by direction (MPLS, GTP's TEID) do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkId(u32);

const KIND_SHIFT: u32 = 30;
const NUMBER_MASK: u32 = (1 << KIND_SHIFT) - 1;
const VNI: u32 = 1;
const GRE_KEY: u32 = 2;
const NESTED: u32 = 3;
/// Bits of a VLAN's number (IEEE 802.1Q).
const VLAN_BITS: u32 = 12;
const VLAN_MASK: u32 = (1 << VLAN_BITS) - 1;

impl NetworkId {
    /// No virtual network.
    pub const NONE: Self = Self(0);
    /// Stands for all of them, where a connection is looked up.
    pub(crate) const ANY: Self = Self(u32::MAX);

    /// Inside a VLAN of it; number 0 only gives a priority.
    pub(crate) fn vlan(self, tag: u16) -> Self {
        let number = u32::from(tag) & VLAN_MASK;
        match self.0 {
            outer if outer <= VLAN_MASK || number == 0 => match number {
                0 => self,
                _ => Self(outer << VLAN_BITS | number),
            },
            _ => self.nested(number),
        }
    }

    /// Inside the network that VXLAN or Geneve number so.
    pub(crate) fn vni(self, number: u32) -> Self {
        self.numbered(VNI, number)
    }

    /// Inside a tunnel of GRE with a key.
    pub(crate) fn gre_key(self, key: u32) -> Self {
        self.numbered(GRE_KEY, key)
    }

    fn numbered(self, kind: u32, number: u32) -> Self {
        match self {
            Self::NONE => Self(kind << KIND_SHIFT | number & NUMBER_MASK),
            _ => self.nested(kind << KIND_SHIFT ^ number),
        }
    }

    /// A network in others, of which only equality is known.
    fn nested(self, inner: u32) -> Self {
        let mixed =
            (u64::from(self.0) << 32 | u64::from(inner)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(NESTED << KIND_SHIFT | (mixed >> 34) as u32 & (NUMBER_MASK >> 1))
    }
}

impl fmt::Display for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0 & NUMBER_MASK;
        match self.0 >> KIND_SHIFT {
            _ if *self == Self::NONE => f.write_str("untagged"),
            0 if number > VLAN_MASK => {
                write!(f, "vlan {}.{}", number >> VLAN_BITS, number & VLAN_MASK)
            }
            0 => write!(f, "vlan {number}"),
            VNI => write!(f, "vni {number}"),
            GRE_KEY => write!(f, "key {number}"),
            _ => write!(f, "network {number:x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_network_it_is() {
        let none = NetworkId::NONE;
        for (network, name) in [
            (none, "untagged"),
            (none.vlan(0x2000), "untagged"),
            (none.vlan(0xa00a), "vlan 10"),
            (none.vlan(5).vlan(10), "vlan 5.10"),
            (none.vni(5001), "vni 5001"),
            (none.gre_key(7), "key 7"),
        ] {
            assert_eq!(network.to_string(), name);
        }
    }

    #[test]
    fn nested_networks_differ() {
        let inside = |vni: u32| NetworkId::NONE.vlan(10).vni(vni);
        assert_ne!(inside(1), inside(2));
        assert_ne!(inside(1), NetworkId::NONE.vni(1));
        assert_ne!(inside(1).vlan(3), inside(1).vlan(4));
        assert_ne!(inside(1).vlan(3), NetworkId::ANY);
    }
}
