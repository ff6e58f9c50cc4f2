//! A congestion control algorithm compiled for the running kernel, ready to be loaded.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::sync::Arc;

use dumbbell_cc_abi::{
    CA_PRIV_WORDS, Ops, TCP_CA_NAME_MAX, TCP_CONG_ECT_1_NEGOTIATION, TCP_CONG_NEEDS_ACCECN,
    TCP_CONG_NEEDS_ECN,
};

use crate::build::artifact::{Object, Target};
use crate::build::compile;
use crate::build::file_name::FileName;
use crate::build::find::find;
use crate::describe::{Declared, Kind};
use crate::error::Error;
use crate::object::contents::Contents;
use crate::object::declarations::{self, Declarations, Series, StatePlace};
use crate::object::elf::Elf;
use crate::object::ops_choice;
use crate::request::{Request, choose_params};

/// Section of the constants, parameters among them; libbpf makes a map of it.
const CONSTANTS: &str = ".rodata";

/// A BPF object, the parameters chosen for it, and how to read its flows' state. The loader writes
/// [`BpfObject::constants`] and a name of its own into it.
#[derive(Clone, Debug)]
pub struct BpfObject {
    object: Object,
    name: String,
    ops_table: String,
    needs_ecn: bool,
    needs_accecn: bool,
    sends_ect1: bool,
    kind: Kind,
    ops: Vec<&'static str>,
    params: BTreeMap<String, i64>,
    constants: Vec<Constant>,
    contents: Arc<Contents>,
}

/// A value to write into the object's `.rodata`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Bytes from the start of `.rodata`.
    pub offset: usize,
    /// The value as the kernel reads it.
    pub bytes: Vec<u8>,
}

impl BpfObject {
    /// Bytes of `tcp_congestion_ops.name`, its terminating zero included.
    pub const NAME_BYTES: usize = TCP_CA_NAME_MAX;
    /// Offset of the op `min_tso_segs` in the ops table.
    pub const MIN_TSO_SEGS_OFFSET: usize = offset_of!(Ops, min_tso_segs);
    /// Bytes from the start of the ops table to its flags, four of them.
    pub const FLAGS_OFFSET: usize = offset_of!(Ops, flags);
    /// Bytes from the start of the ops table to its name.
    pub const NAME_OFFSET: usize = offset_of!(Ops, name);

    /// Finds a built-in's object, or compiles a file, and checks the parameters.
    pub fn find(request: &Request) -> Result<Self, Error> {
        Self::find_with(request, || None)
    }

    /// The same; a file that needs more than our `vmlinux.h` is compiled with the running kernel's
    /// types, C text, if `kernel_types` returns them.
    pub fn find_with(
        request: &Request,
        kernel_types: impl FnOnce() -> Option<String>,
    ) -> Result<Self, Error> {
        let invalid = |problem: String| Error::Invalid {
            file: request.name.clone(),
            problem,
        };
        let object = find_object(&request.name, kernel_types)?;
        let elf = Elf::parse(object.as_ref()).map_err(invalid)?;
        let contents = object.contents().map_err(invalid)?;
        let declarations = &contents.declarations;
        let params = choose_params(request, &declarations.params)?;
        let constants = constants(&elf, declarations, &params).map_err(invalid)?;
        let wanted = FileName::parse(&request.name).and_then(|file| file.table);
        let check = |table: &str| elf.ops_image(table)?.check().map(|_| ());
        let table = ops_choice::choose(&elf, wanted, check).map_err(invalid)?;
        let image = elf.ops_image(table).map_err(invalid)?;
        Ok(Self {
            name: image.check().map_err(invalid)?.to_owned(),
            needs_ecn: image.flags() & TCP_CONG_NEEDS_ECN != 0,
            needs_accecn: image.flags() & TCP_CONG_NEEDS_ACCECN != 0,
            sends_ect1: image.flags() & TCP_CONG_ECT_1_NEGOTIATION != 0,
            kind: match FileName::parse(&request.name) {
                Some(_) => Kind::Bpf,
                None => Kind::BuiltIn,
            },
            ops: image.present().collect(),
            ops_table: table.to_owned(),
            params,
            constants,
            contents,
            object,
        })
    }

    /// The ELF file.
    pub fn bytes(&self) -> &[u8] {
        self.object.as_ref()
    }

    /// The congestion control algorithm's name in its source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it needs ECN on its connections (`TCP_CONG_NEEDS_ECN`).
    pub fn needs_ecn(&self) -> bool {
        self.needs_ecn
    }

    /// Whether its packets are ECT(1) (`TCP_CONG_ECT_1_NEGOTIATION`).
    pub fn sends_ect1(&self) -> bool {
        self.sends_ect1
    }

    /// Lets it have Accurate ECN where the kernel has that only for those that need it: sets
    /// `TCP_CONG_NEEDS_ACCECN` when it is registered.
    pub fn require_accecn(&mut self) {
        self.needs_accecn = true;
    }

    /// The flags that its table has, of `flags` in the source.
    pub fn registered_flags(&self, flags: u32) -> u32 {
        if self.needs_accecn {
            flags | TCP_CONG_NEEDS_ACCECN
        } else {
            flags
        }
    }

    /// Whether it needs Accurate ECN (`TCP_CONG_NEEDS_ACCECN`).
    pub fn needs_accecn(&self) -> bool {
        self.needs_accecn
    }

    /// Name of its ops table's variable, which is also libbpf's name for the map.
    pub fn ops_table(&self) -> &str {
        &self.ops_table
    }

    /// A hexadecimal digest of the object and of the headers it was built with.
    pub fn build(&self) -> &str {
        &self.contents.build
    }

    /// What its source declares.
    pub fn declared(&self) -> Declared {
        Declared {
            notes: Vec::new(),
            kind: self.kind,
            params: self.contents.declarations.params.clone(),
            series: self.contents.declarations.series.clone(),
            ops: self.ops.clone(),
        }
    }

    /// The parameters that will be in force, by name.
    pub fn params(&self) -> &BTreeMap<String, i64> {
        &self.params
    }

    /// The parameters' values in `.rodata`.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// The time series that its flows deliver, in the order of [`BpfObject::read_series`].
    pub fn series(&self) -> &[Series] {
        &self.contents.declarations.series
    }

    /// Bytes of its `bpf_sk_storage` value; zero if it has none.
    pub fn storage_bytes(&self) -> usize {
        self.contents.declarations.storage_bytes
    }

    /// Number of words of the `bpf_sk_storage` value, from its start, that contain series.
    pub fn storage_series_words(&self) -> usize {
        let readers = self.contents.declarations.readers.iter();
        readers
            .filter(|reader| reader.place == StatePlace::Storage)
            .map(|reader| reader.words())
            .max()
            .unwrap_or(0)
    }

    /// Passes each series' index and raw value to `take`, in the order of [`BpfObject::series`];
    /// signed values are sign-extended. `storage` is the start of the `bpf_sk_storage` value,
    /// [`BpfObject::storage_series_words`] long.
    pub fn read_series(
        &self,
        ca_priv: &[u64; CA_PRIV_WORDS],
        storage: &[u64],
        mut take: impl FnMut(usize, u64),
    ) {
        for (index, reader) in self.contents.declarations.readers.iter().enumerate() {
            let words = match reader.place {
                StatePlace::CaPriv => &ca_priv[..],
                StatePlace::Storage => storage,
            };
            take(index, reader.read(words));
        }
    }
}

/// Compiles a file for the running kernel and checks what can be checked without loading it.
pub fn compile_for_kernel(name: &str) -> Result<(), Error> {
    let request = Request {
        name: name.to_owned(),
        params: BTreeMap::new(),
    };
    BpfObject::find(&request).map(drop)
}

fn find_object(name: &str, kernel_types: impl FnOnce() -> Option<String>) -> Result<Object, Error> {
    let first = find(name, Target::Bpf);
    let build = match (first, FileName::parse(name)) {
        (
            Err(Error::Compile {
                path,
                compiler,
                message,
            }),
            Some(file),
        ) => match kernel_types() {
            Some(types) => compile::build_with_kernel_types(file.path, &types),
            None => Err(Error::Compile {
                path,
                compiler,
                message,
            }),
        },
        (first, _) => first,
    };
    Ok(build?.object)
}

/// The parameters' values and where they belong.
fn constants(
    elf: &Elf<'_>,
    declarations: &Declarations,
    params: &BTreeMap<String, i64>,
) -> Result<Vec<Constant>, String> {
    let place = |param: &declarations::Param| {
        let variable = elf
            .variable(&param.name)
            .filter(|variable| variable.section == CONSTANTS)
            .ok_or_else(|| {
                format!(
                    "does not have its parameter `{}` in {CONSTANTS}",
                    param.name
                )
            })?;
        let value = params[&param.name].to_ne_bytes();
        let size = param.size as usize;
        let bytes = if cfg!(target_endian = "little") {
            &value[..size]
        } else {
            &value[value.len() - size..]
        };
        Ok(Constant {
            offset: variable.offset,
            bytes: bytes.to_owned(),
        })
    };
    declarations.params.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Write as _, stdout};

    use super::*;
    use crate::build::embedded::{BPF_COMPILER, builtin_names};
    use crate::host::instance::Instance;

    fn request(name: &str, params: &[(&str, i64)]) -> Request {
        let params = params
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        Request {
            name: name.to_owned(),
            params: params.collect(),
        }
    }

    fn probe() -> String {
        format!("{}/tests/cc/probe.bpf.c", env!("CARGO_MANIFEST_DIR"))
    }

    /// Reports why the tests of this module are skipped; `tests/run_all.py` counts the line.
    fn no_compiler(test: &str) -> bool {
        if BPF_COMPILER.is_none() {
            // Not with `println!`, which the test harness captures.
            let line = format!("SKIPPED: {test}: dumbbell was built without a BPF compiler\n");
            let _ = stdout().write_all(line.as_bytes());
        }
        BPF_COMPILER.is_none()
    }

    #[test]
    fn with_the_kernel_s_types_a_file_is_compiled_once_too() {
        if no_compiler("with_the_kernel_s_types_a_file_is_compiled_once_too") {
            return;
        }
        let types = |end: &str| include_str!("../../../../cc/include/vmlinux.h").to_owned() + end;
        let build = |types: &str| {
            let build = compile::build_with_kernel_types(probe().as_ref(), types).unwrap();
            build.object.as_ref().as_ptr()
        };
        let first = build(&types(""));
        assert_eq!(first, build(&types("")));
        assert_ne!(first, build(&types("\n")));
    }

    #[test]
    fn both_builds_declare_the_same() {
        if no_compiler("both_builds_declare_the_same") {
            return;
        }
        let probe = probe();
        for name in builtin_names().into_iter().chain([probe.as_str()]) {
            let request = request(name, &[]);
            let bpf = BpfObject::find(&request).unwrap_or_else(|error| panic!("{error}"));
            let native = Instance::load(&request, 1).unwrap();
            assert_eq!(bpf.name(), native.name());
            assert_eq!(
                bpf.contents.declarations.params,
                native.declarations().params
            );
            assert_eq!(bpf.series(), native.series());
            assert_eq!(bpf.storage_bytes(), native.declarations().storage_bytes);
            assert_eq!(*bpf.params(), native.params());
            assert_ne!(bpf.build(), native.build());
        }
    }

    #[test]
    fn objects_carry_types_and_line_numbers_but_no_path_of_the_build() {
        if no_compiler("objects_carry_types_and_line_numbers_but_no_path_of_the_build") {
            return;
        }
        for name in builtin_names() {
            let bpf = BpfObject::find(&request(name, &[])).unwrap();
            let contains = |needle: &str| {
                let mut windows = bpf.bytes().windows(needle.len());
                windows.any(|window| window == needle.as_bytes())
            };
            assert!(contains("\0.BTF\0") || contains(".rel.BTF\0"), "{name}");
            assert!(contains(".BTF.ext\0"), "{name}");
            assert!(contains(&format!("cc/{name}.bpf.c\0")), "{name}");
            assert!(!contains(env!("CARGO_MANIFEST_DIR")), "{name}");
        }
    }

    #[test]
    fn constants_hold_the_parameters_chosen() {
        if no_compiler("constants_hold_the_parameters_chosen") {
            return;
        }
        let chosen = [("window_pkts", 300), ("bias", -2), ("large", 1 << 40)];
        let bpf = BpfObject::find(&request(&probe(), &chosen)).unwrap();
        assert_eq!(bpf.params()["small"], 255);
        let bytes = |index: usize| bpf.constants()[index].bytes.clone();
        assert_eq!(bytes(0), 300_u32.to_ne_bytes());
        assert_eq!(bytes(1), (-2_i32).to_ne_bytes());
        assert_eq!(bytes(2), [255]);
        assert_eq!(bytes(3), (1_u64 << 40).to_ne_bytes());
    }

    #[test]
    fn parameters_are_checked_as_in_the_native_build() {
        if no_compiler("parameters_are_checked_as_in_the_native_build") {
            return;
        }
        for (name, params) in [
            ("copa", ("velocity_mx", 1)),
            ("copa", ("mode_switching", 2)),
        ] {
            let request = request(name, &[params]);
            let native = Instance::load(&request, 1).unwrap_err().to_string();
            assert_eq!(BpfObject::find(&request).unwrap_err().to_string(), native);
        }
    }

    #[test]
    fn series_are_read_from_both_states() {
        if no_compiler("series_are_read_from_both_states") {
            return;
        }
        let bpf = BpfObject::find(&request(&probe(), &[])).unwrap();
        // struct storage { u64 calls; u32 ack_flags; }
        assert_eq!(bpf.storage_series_words(), 2);
        let mut ca_priv = [0; CA_PRIV_WORDS];
        ca_priv[0] = 7;
        let mut values = Vec::new();
        bpf.read_series(&ca_priv, &[8, 9], |_, value| values.push(value));
        assert_eq!(values.first(), Some(&7));
        assert_eq!(values[values.len() - 2..], [8, 9]);
    }
}
