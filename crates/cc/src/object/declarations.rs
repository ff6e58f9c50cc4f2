//! What a congestion control declares about itself: parameters and time series.

use dumbbell_declare::{FREE, records};

records! {
    /// A parameter: an integer global that is set when an instance is loaded.
    #[derive(PartialEq, Eq)]
    pub struct Param: "param" {
        /// Name of the variable.
        name: String;
        /// Unit of the value; empty for a pure number.
        unit: String, FREE;
        /// One line of explanation.
        doc: String, FREE;
        /// Bytes of the variable: 1, 2, 4 or 8.
        size: u32;
        /// Whether the variable's type is signed.
        signed: bool;
        /// Smallest value allowed.
        min: i64;
        /// Largest value allowed.
        max: i64;
        /// Value unless one is given.
        default: i64;
        // The exported variable that holds it.
        hidden pub(crate) variable: String;
    }
}

impl Param {
    /// A parameter that is not a variable of an object: signed, of 8 bytes.
    pub fn of(name: &str, unit: &str, doc: &str, (min, max): (i64, i64), default: i64) -> Self {
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            doc: doc.to_owned(),
            size: 8,
            signed: true,
            min,
            max,
            default,
            variable: String::new(),
        }
    }
}

records! {
    /// A time series: a field of the congestion control's private state. The reported
    /// value is `raw * mul / div`, times the MSS in bytes if `per_mss`.
    #[derive(PartialEq, Eq)]
    pub struct Series: "series" {
        /// Name of the column, its unit included.
        name: String;
        /// Unit of the reported value; empty for a pure number.
        unit: String, FREE;
        /// One line of explanation.
        doc: String, FREE;
        /// Names of the values 0, 1, …; empty unless the field is an enumeration.
        labels: Vec<String>;
        /// Multiplier of the raw value.
        mul: u64;
        /// Divisor of the raw value.
        div: u64;
        /// Whether the value is also multiplied by the MSS in bytes.
        per_mss: bool;
        /// Whether the raw value is signed; it is sign-extended to 64 bits then.
        signed: bool;
        hidden pub(crate) place: StatePlace;
        // Bytes from the start of the state.
        hidden pub(crate) offset: usize;
        // Bytes of the field: 1, 2, 4 or 8.
        hidden pub(crate) size: usize;
    }
}

/// Where a series' state lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StatePlace {
    /// The socket's `icsk_ca_priv`.
    #[default]
    CaPriv,
    /// The value of `bpf_sk_storage_get()`.
    Storage,
}

impl Series {
    /// A series whose values do not come from a state that we can read, such as one that the kernel
    /// reports: unsigned, unscaled, `bytes` wide.
    pub fn unscaled(name: &str, unit: &str, doc: &str, bytes: usize) -> Self {
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            doc: doc.to_owned(),
            labels: Vec::new(),
            mul: 1,
            div: 1,
            per_mss: false,
            signed: false,
            place: StatePlace::CaPriv,
            offset: 0,
            size: bytes,
        }
    }

    /// Bytes of the field: 1, 2, 4 or 8.
    pub fn bytes(&self) -> usize {
        self.size
    }

    pub(crate) fn reader(&self) -> Reader {
        let lead_bytes = if cfg!(target_endian = "little") {
            self.offset % 8
        } else {
            8 - self.offset % 8 - self.size
        };
        let mask = u64::MAX >> (64 - 8 * self.size);
        Reader {
            place: self.place,
            word: self.offset / 8,
            lead_bits: 8 * lead_bytes as u32,
            mask,
            sign_bit: if self.signed { mask ^ (mask >> 1) } else { 0 },
        }
    }
}

/// How to read a series from the state's words: the part of [`Series`] that sampling needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) place: StatePlace,
    /// Fields do not straddle words: `check_series` rejects those.
    word: usize,
    lead_bits: u32,
    mask: u64,
    /// The field's highest bit; 0 if it is unsigned.
    sign_bit: u64,
}

impl Reader {
    /// Number of words that it needs, from the start of the state.
    pub(crate) fn words(&self) -> usize {
        self.word + 1
    }

    /// The raw value, zero- or sign-extended.
    #[inline]
    pub(crate) fn read(&self, words: &[u64]) -> u64 {
        let value = (words[self.word] >> self.lead_bits) & self.mask;
        (value ^ self.sign_bit).wrapping_sub(self.sign_bit)
    }
}

/// All declarations of one congestion control.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) params: Vec<Param>,
    pub(crate) series: Vec<Series>,
    /// One per series.
    pub(crate) readers: Vec<Reader>,
    /// Bytes of the `bpf_sk_storage` value; zero without one.
    pub(crate) storage_bytes: usize,
    /// What a user should know about where it would run, a sentence without its subject each.
    pub(crate) notes: Vec<String>,
}
