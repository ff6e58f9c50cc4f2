//! Reads the declarations that `cc/include/dumbbell.h` puts into an object.

use std::mem::{offset_of, size_of};

use dumbbell_cc_abi::{CA_PRIV_WORDS, Declaration};

use crate::object::declarations::{Declarations, Param, Series, StatePlace};
use crate::object::elf::Elf;

const KIND_PARAM: u32 = 1;
const KIND_SERIES: u32 = 2;
const KIND_SERIES_STORAGE: u32 = 3;
const KIND_STORAGE: u32 = 4;
const KIND_PARAM_DOC: u32 = 5;
const KIND_CA_PRIV: u32 = 6;
const KIND_MODULE_STATE: u32 = 7;

/// The most state that a kernel module may keep per socket, bytes.
pub(crate) const MODULE_STATE_MAX_BYTES: usize = 512;

/// Bytes of `icsk_ca_priv`.
const CA_PRIV_BYTES: usize = 8 * CA_PRIV_WORDS;

const FLAG_SIGNED: u32 = 1;
const FLAG_PER_MSS: u32 = 2;
const FLAG_ENUM: u32 = 4;
const FLAG_MODULE_PARAM: u32 = 8;
const FLAG_BOOL: u32 = 16;
/// Where the size of a module's state comes from, in `flags`: what the module needs, the tree that its
/// source lies in, or nowhere, because the source does not check it.
pub(crate) const STATE_NEEDED: u32 = 0;
pub(crate) const STATE_IS_OF_TREE: u32 = 1;
pub(crate) const STATE_UNCHECKED: u32 = 2;

/// Prefix of the exported name of a kernel module's parameter; the variable itself is not exported.
const MODULE_PARAM_PREFIX: &str = "__dumbbell_param_";

/// The C side's `struct dumbbell_decl`.
struct Raw(Declaration);

impl Raw {
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() != size_of::<Declaration>() {
            return Err("was built against another cc/include/dumbbell.h".to_owned());
        }
        Ok(Self(Declaration {
            name: array(bytes, offset_of!(Declaration, name)),
            unit: array(bytes, offset_of!(Declaration, unit)),
            doc: array(bytes, offset_of!(Declaration, doc)),
            kind: u32::from_ne_bytes(array(bytes, offset_of!(Declaration, kind))),
            flags: u32::from_ne_bytes(array(bytes, offset_of!(Declaration, flags))),
            offset: u32::from_ne_bytes(array(bytes, offset_of!(Declaration, offset))),
            size: u32::from_ne_bytes(array(bytes, offset_of!(Declaration, size))),
            mul: u64::from_ne_bytes(array(bytes, offset_of!(Declaration, mul))),
            div: u64::from_ne_bytes(array(bytes, offset_of!(Declaration, div))),
            min: i64::from_ne_bytes(array(bytes, offset_of!(Declaration, min))),
            max: i64::from_ne_bytes(array(bytes, offset_of!(Declaration, max))),
            default: i64::from_ne_bytes(array(bytes, offset_of!(Declaration, default))),
        }))
    }

    fn signed(&self) -> bool {
        self.0.flags & FLAG_SIGNED != 0
    }

    fn param(&self, elf: &Elf<'_>) -> Result<Param, String> {
        if self.0.flags & FLAG_MODULE_PARAM != 0 {
            return self.module_param(elf);
        }
        Ok(Param {
            name: text(&self.0.name),
            variable: text(&self.0.name),
            unit: text(&self.0.unit),
            doc: text(&self.0.doc),
            size: self.0.size,
            signed: self.signed(),
            min: self.0.min,
            max: self.0.max,
            default: self.0.default,
        })
    }

    /// A parameter of a kernel module: `module_param` gives neither range nor default, so they are
    /// the type's range and the variable's initial value.
    fn module_param(&self, elf: &Elf<'_>) -> Result<Param, String> {
        let name = text(&self.0.name);
        let variable = format!("{MODULE_PARAM_PREFIX}{name}");
        let value = elf.initial_value(&variable);
        let default = value.filter(|bytes| bytes.len() == self.0.size as usize);
        let Some(default) = default.and_then(|bytes| integer(&bytes, self.signed())) else {
            return Err(format!(
                "has parameter `{name}` that is not an integer; the simulator sets integers only"
            ));
        };
        let (min, max) = if self.0.flags & FLAG_BOOL != 0 {
            (0, 1)
        } else {
            type_range(self.0.size, self.signed())
        };
        Ok(Param {
            name,
            variable,
            unit: String::new(),
            doc: String::new(),
            size: self.0.size,
            signed: self.signed(),
            min,
            max,
            default,
        })
    }

    fn series(&self, place: StatePlace) -> Series {
        let unit = text(&self.0.unit);
        let labels = unit.split(',').map(|label| label.trim().to_owned());
        let (unit, labels) = match self.0.flags & FLAG_ENUM {
            0 => (unit, Vec::new()),
            _ => (String::new(), labels.collect()),
        };
        Series {
            name: text(&self.0.name),
            unit,
            doc: text(&self.0.doc),
            labels,
            mul: self.0.mul,
            div: self.0.div,
            per_mss: self.0.flags & FLAG_PER_MSS != 0,
            signed: self.signed(),
            place,
            offset: self.0.offset as usize,
            size: self.0.size as usize,
        }
    }
}

/// Reads the declarations of an object and checks that they are consistent with it.
pub(crate) fn read_declarations(elf: &Elf<'_>) -> Result<Declarations, String> {
    let mut found = Declarations::default();
    let mut docs = Vec::new();
    for bytes in elf.declarations()? {
        let raw = Raw::parse(bytes)?;
        match raw.0.kind {
            KIND_PARAM => found.params.push(raw.param(elf)?),
            KIND_PARAM_DOC => docs.push((text(&raw.0.name), text(&raw.0.doc))),
            KIND_SERIES => found.series.push(raw.series(StatePlace::CaPriv)),
            KIND_SERIES_STORAGE => found.series.push(raw.series(StatePlace::Storage)),
            KIND_CA_PRIV => check_ca_priv(&raw)?,
            KIND_MODULE_STATE => set_module_state(&raw, &mut found)?,
            KIND_STORAGE if found.storage_bytes == 0 => found.storage_bytes = raw.0.size as usize,
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
    if raw.0.size as usize > CA_PRIV_BYTES {
        return Err(format!(
            "keeps {} bytes of state in `{}`, and icsk_ca_priv has {CA_PRIV_BYTES}; make it \
             smaller, or keep it in socket storage: STORAGE() of dumbbell.h",
            raw.0.size,
            text(&raw.0.doc)
        ));
    }
    Ok(())
}

/// A kernel module's state that does not fit in Linux's `icsk_ca_priv` lies in the flow's storage.
fn set_module_state(raw: &Raw, found: &mut Declarations) -> Result<(), String> {
    let bytes = raw.0.size as usize;
    if bytes > MODULE_STATE_MAX_BYTES {
        return Err(format!(
            "keeps {bytes} bytes of state per socket; the simulator has {MODULE_STATE_MAX_BYTES}, \
             Linux {CA_PRIV_BYTES}"
        ));
    }
    found.storage_bytes = bytes;
    match raw.0.flags {
        STATE_IS_OF_TREE => {}
        STATE_UNCHECKED => found.notes.push(format!(
            "does not compare its state with ICSK_CA_PRIV_SIZE, {CA_PRIV_BYTES} bytes in Linux; it \
             has room for {bytes} here"
        )),
        _ => found.notes.push(format!(
            "keeps {bytes} bytes of state per socket; Linux has {CA_PRIV_BYTES} \
             (ICSK_CA_PRIV_SIZE), so a stock kernel would not build it"
        )),
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
        StatePlace::CaPriv => ("icsk_ca_priv", CA_PRIV_BYTES),
        StatePlace::Storage => ("the socket storage", storage_bytes),
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
