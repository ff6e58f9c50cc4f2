//! What a congestion control declares about itself, read from `struct dumbbell_decl` in
//! `cc/include/dumbbell.h`.

use std::mem::{offset_of, size_of};

use serde::Serialize;

use crate::object::elf::Elf;
use dumbbell_cc_abi::CA_PRIV_WORDS;

const KIND_PARAM: u32 = 1;
const KIND_SERIES: u32 = 2;
const KIND_SERIES_STORAGE: u32 = 3;
const KIND_STORAGE: u32 = 4;
const KIND_PARAM_DOC: u32 = 5;
const KIND_CA_PRIV: u32 = 6;

/// Bytes of `icsk_ca_priv`.
const CA_PRIV_BYTES: usize = 8 * CA_PRIV_WORDS;

const FLAG_SIGNED: u32 = 1;
const FLAG_PER_MSS: u32 = 2;
const FLAG_ENUM: u32 = 4;
const FLAG_MODULE_PARAM: u32 = 8;
const FLAG_BOOL: u32 = 16;

/// Prefix of the exported name of a kernel module's parameter; the variable itself is not exported.
const MODULE_PARAM_PREFIX: &str = "__dumbbell_param_";

/// A parameter: an integer global that is set when an instance is loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Param {
    /// Name of the variable.
    pub name: String,
    /// Unit of the value; empty for a pure number.
    pub unit: String,
    /// One line of explanation.
    pub doc: String,
    /// Bytes of the variable: 1, 2, 4 or 8.
    pub size: u32,
    /// Whether the variable's type is signed.
    pub signed: bool,
    /// Smallest value allowed.
    pub min: i64,
    /// Largest value allowed.
    pub max: i64,
    /// Value unless one is given.
    pub default: i64,
    /// The exported variable that holds it.
    #[serde(skip)]
    pub(crate) variable: String,
}

/// A time series: a field of the congestion control's private state. The reported
/// value is `raw * mul / div`, times the MSS in bytes if `per_mss`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Series {
    /// Name of the column, its unit included.
    pub name: String,
    /// Unit of the reported value; empty for a pure number.
    pub unit: String,
    /// One line of explanation.
    pub doc: String,
    /// Names of the values 0, 1, …; empty unless the field is an enumeration.
    pub labels: Vec<String>,
    /// Multiplier of the raw value.
    pub mul: u64,
    /// Divisor of the raw value.
    pub div: u64,
    /// Whether the value is also multiplied by the MSS in bytes.
    pub per_mss: bool,
    /// Whether the raw value is signed; it is sign-extended to 64 bits then.
    pub signed: bool,
    #[serde(skip)]
    pub(crate) place: Place,
    /// Bytes from the start of the state.
    #[serde(skip)]
    pub(crate) offset: usize,
    /// Bytes of the field: 1, 2, 4 or 8.
    #[serde(skip)]
    pub(crate) size: usize,
}

/// Where a series' state lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `icsk_ca_priv`.
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
            place: Place::CaPriv,
            offset: 0,
            size: bytes,
        }
    }

    /// Bytes of the field: 1, 2, 4 or 8.
    pub fn bytes(&self) -> usize {
        self.size
    }

    fn reader(&self) -> Reader {
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
pub struct Reader {
    pub(crate) place: Place,
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
}

/// `struct dumbbell_decl`; only its offsets are used.
#[repr(C)]
struct Raw {
    name: [u8; 32],
    unit: [u8; 64],
    doc: [u8; 104],
    kind: u32,
    flags: u32,
    offset: u32,
    size: u32,
    mul: u64,
    div: u64,
    min: i64,
    max: i64,
    default: i64,
}

impl Raw {
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != size_of::<Self>() {
            return Err("was built against another cc/include/dumbbell.h".to_owned());
        }
        Ok(Self {
            name: array(bytes, offset_of!(Self, name)),
            unit: array(bytes, offset_of!(Self, unit)),
            doc: array(bytes, offset_of!(Self, doc)),
            kind: u32::from_ne_bytes(array(bytes, offset_of!(Self, kind))),
            flags: u32::from_ne_bytes(array(bytes, offset_of!(Self, flags))),
            offset: u32::from_ne_bytes(array(bytes, offset_of!(Self, offset))),
            size: u32::from_ne_bytes(array(bytes, offset_of!(Self, size))),
            mul: u64::from_ne_bytes(array(bytes, offset_of!(Self, mul))),
            div: u64::from_ne_bytes(array(bytes, offset_of!(Self, div))),
            min: i64::from_ne_bytes(array(bytes, offset_of!(Self, min))),
            max: i64::from_ne_bytes(array(bytes, offset_of!(Self, max))),
            default: i64::from_ne_bytes(array(bytes, offset_of!(Self, default))),
        })
    }

    fn signed(&self) -> bool {
        self.flags & FLAG_SIGNED != 0
    }

    fn param(&self, elf: &Elf<'_>) -> Result<Param, String> {
        if self.flags & FLAG_MODULE_PARAM != 0 {
            return self.module_param(elf);
        }
        Ok(Param {
            name: text(&self.name),
            variable: text(&self.name),
            unit: text(&self.unit),
            doc: text(&self.doc),
            size: self.size,
            signed: self.signed(),
            min: self.min,
            max: self.max,
            default: self.default,
        })
    }

    /// A parameter of a kernel module: `module_param` gives neither range nor default, so they are
    /// the type's range and the variable's initial value.
    fn module_param(&self, elf: &Elf<'_>) -> Result<Param, String> {
        let name = text(&self.name);
        let variable = format!("{MODULE_PARAM_PREFIX}{name}");
        let value = elf.initial_value(&variable);
        let default = value.filter(|bytes| bytes.len() == self.size as usize);
        let Some(default) = default.and_then(|bytes| integer(&bytes, self.signed())) else {
            return Err(format!(
                "has parameter `{name}` that is not an integer; the simulator sets integers only"
            ));
        };
        let (min, max) = if self.flags & FLAG_BOOL != 0 {
            (0, 1)
        } else {
            type_range(self.size, self.signed())
        };
        Ok(Param {
            name,
            variable,
            unit: String::new(),
            doc: String::new(),
            size: self.size,
            signed: self.signed(),
            min,
            max,
            default,
        })
    }

    fn series(&self, place: Place) -> Series {
        let unit = text(&self.unit);
        let labels = unit.split(',').map(|label| label.trim().to_owned());
        let (unit, labels) = match self.flags & FLAG_ENUM {
            0 => (unit, Vec::new()),
            _ => (String::new(), labels.collect()),
        };
        Series {
            name: text(&self.name),
            unit,
            doc: text(&self.doc),
            labels,
            mul: self.mul,
            div: self.div,
            per_mss: self.flags & FLAG_PER_MSS != 0,
            signed: self.signed(),
            place,
            offset: self.offset as usize,
            size: self.size as usize,
        }
    }
}

/// Reads the declarations of an object and checks that they are consistent with it.
pub(crate) fn read(elf: &Elf<'_>) -> Result<Declarations, String> {
    let mut found = Declarations::default();
    let mut docs = Vec::new();
    for bytes in elf.declarations()? {
        let raw = Raw::parse(bytes)?;
        match raw.kind {
            KIND_PARAM => found.params.push(raw.param(elf)?),
            KIND_PARAM_DOC => docs.push((text(&raw.name), text(&raw.doc))),
            KIND_SERIES => found.series.push(raw.series(Place::CaPriv)),
            KIND_SERIES_STORAGE => found.series.push(raw.series(Place::Storage)),
            KIND_CA_PRIV => check_ca_priv(&raw)?,
            KIND_STORAGE if found.storage_bytes == 0 => found.storage_bytes = raw.size as usize,
            KIND_STORAGE => return Err("declares STORAGE twice; declare it once".to_owned()),
            kind => return Err(format!("declares something of unknown kind {kind}")),
        }
    }
    for (name, doc) in docs {
        if let Some(param) = found.params.iter_mut().find(|param| param.name == name) {
            param.doc = doc;
        }
    }
    check_names(
        found.params.iter().map(|param| param.name.as_str()),
        "parameter",
    )?;
    check_names(
        found.series.iter().map(|series| series.name.as_str()),
        "series",
    )?;
    for param in &found.params {
        check_param(param, elf)?;
    }
    for series in &found.series {
        check_series(series, found.storage_bytes)?;
    }
    found.readers = found.series.iter().map(Series::reader).collect();
    Ok(found)
}

fn check_ca_priv(raw: &Raw) -> Result<(), String> {
    if raw.size as usize > CA_PRIV_BYTES {
        return Err(format!(
            "keeps {} bytes of state in `{}`, and icsk_ca_priv has {CA_PRIV_BYTES}; make it \
             smaller, or keep it in socket storage: STORAGE() of dumbbell.h",
            raw.size,
            text(&raw.doc)
        ));
    }
    Ok(())
}

fn check_names<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Result<(), String> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("declares {what} `{}` twice", twice[0]));
    }
    Ok(())
}

fn check_param(param: &Param, elf: &Elf<'_>) -> Result<(), String> {
    let name = &param.name;
    if !matches!(param.size, 1 | 2 | 4 | 8) {
        return Err(format!("has parameter `{name}` that is not an integer"));
    }
    if elf.size(&param.variable) != Some(u64::from(param.size)) {
        return Err(format!(
            "does not export its parameter `{name}`; declare it with PARAM at file scope"
        ));
    }
    let (lowest, highest) = type_range(param.size, param.signed);
    if param.min < lowest || param.max > highest {
        return Err(format!(
            "gives parameter `{name}` the range {} to {}, but its type holds {lowest} to {highest}",
            param.min, param.max
        ));
    }
    if !(param.min..=param.max).contains(&param.default) {
        return Err(format!(
            "gives parameter `{name}` the default {}, outside its range {} to {}",
            param.default, param.min, param.max
        ));
    }
    Ok(())
}

fn check_series(series: &Series, storage_bytes: usize) -> Result<(), String> {
    let name = &series.name;
    let (state, state_bytes) = match series.place {
        Place::CaPriv => ("icsk_ca_priv", CA_PRIV_BYTES),
        Place::Storage => ("the socket storage", storage_bytes),
    };
    if !matches!(series.size, 1 | 2 | 4 | 8) || series.offset % 8 + series.size > 8 {
        return Err(format!(
            "has series `{name}` that is not an aligned integer"
        ));
    }
    if series.offset + series.size > state_bytes {
        return Err(format!(
            "has series `{name}` at byte {} of {state}, which has {state_bytes}",
            series.offset
        ));
    }
    if series.mul == 0 || series.div == 0 {
        return Err(format!(
            "scales series `{name}` by {}/{}",
            series.mul, series.div
        ));
    }
    Ok(())
}

/// Smallest and largest value of an integer of this many bytes, as far as an `i64` holds them.
fn type_range(size: u32, signed: bool) -> (i64, i64) {
    let bits = size * 8;
    if signed {
        let lowest = i64::MIN >> (64 - bits);
        (lowest, !lowest)
    } else if bits == 64 {
        (0, i64::MAX)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// An integer of at most eight bytes as the machine stores it.
fn integer(bytes: &[u8], signed: bool) -> Option<i64> {
    let mut wide = if signed && top_bit(bytes) {
        [0xff; 8]
    } else {
        [0; 8]
    };
    let from = if cfg!(target_endian = "little") {
        0
    } else {
        8_usize.checked_sub(bytes.len())?
    };
    wide.get_mut(from..from + bytes.len())?
        .copy_from_slice(bytes);
    Some(i64::from_ne_bytes(wide))
}

fn top_bit(bytes: &[u8]) -> bool {
    let top = if cfg!(target_endian = "little") {
        bytes.last()
    } else {
        bytes.first()
    };
    top.is_some_and(|byte| byte & 0x80 != 0)
}

fn array<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[offset..offset + N]);
    array
}

fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
