//! A parameter or a time series that a source declares.

/// `struct dumbbell_decl` of `cc/include/dumbbell.h`.
#[repr(C, align(8))]
#[allow(missing_docs, reason = "fields are documented in dumbbell.h")]
pub struct Declaration {
    pub name: [u8; 32],
    pub unit: [u8; 64],
    pub doc: [u8; 104],
    pub kind: u32,
    pub flags: u32,
    pub offset: u32,
    pub size: u32,
    pub mul: u64,
    pub div: u64,
    pub min: i64,
    pub max: i64,
    pub default: i64,
}
