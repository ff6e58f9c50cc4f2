//! What a guest's kernel says of itself.

use super::socket_fields::KernelField;

/// Facts of a guest's kernel.
#[derive(Clone, Debug)]
pub struct KernelFacts<'a> {
    /// The output of `uname -r`.
    pub release: String,
    /// Ticks a second.
    pub hz: u32,
    /// Where its sockets have the fields that algorithms see.
    pub fields: Vec<KernelField<'a>>,
}

impl KernelFacts<'_> {
    /// Whether its sockets have Accurate ECN, and its driver knows it: the driver names this field if they do.
    pub(super) fn has_accecn(&self) -> bool {
        self.fields.iter().any(|field| field.name == "received_ce")
    }
}
