//! A congestion control algorithm of ours registered in the running kernel.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use dumbbell_cc::{BpfObject, Declared, Request, Series};
use libbpf_rs::{
    AsRawLibbpf as _, ErrorKind, MapCore as _, MapType, Object, ObjectBuilder, OpenObject,
};

use super::skipping_kernel::leaves_programs_out;
use super::socket_state::SocketState;
use super::{failure, instance_name, kernel_types, libbpf_log};
use crate::error::Error;

/// `BPF_F_LINK`: registered by a link, so that the kernel unregisters it when the link's last
/// descriptor is closed, and so when this process dies.
const BY_LINK: u32 = 1 << 13;
/// libbpf names the map of the object's constants `<object>.rodata`, truncated if that is too long.
const CONSTANTS: &str = ".rodata";
/// Number of attempts to find a name that was not taken meanwhile.
const ATTEMPTS: usize = 8;

/// An instance: registered until dropped. Sockets that run it keep it alive in the kernel, but new
/// ones cannot select it.
pub(crate) struct Loaded {
    /// The name by which sockets select it (TCP_CONGESTION).
    pub(crate) kernel_name: String,
    object: Box<BpfObject>,
    /// The map in which it keeps its sockets' state, if any.
    storage: Option<OwnedFd>,
    _link: OwnedFd,
}

impl Loaded {
    /// Loads a built-in or a file with its parameters set, and registers it.
    pub(crate) fn load(request: &Request) -> Result<Self, Error> {
        let object = BpfObject::find_with(request, kernel_types::header)?;
        Self::load_object(request, object)
    }

    /// The same with Accurate ECN on its connections, whether or not its source needs that.
    pub(crate) fn load_with_accecn(request: &Request) -> Result<Self, Error> {
        let mut object = BpfObject::find_with(request, kernel_types::header)?;
        object.require_accecn();
        Self::load_object(request, object)
    }

    fn load_object(request: &Request, object: BpfObject) -> Result<Self, Error> {
        let object = Box::new(object);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let kernel_name = instance_name::unused(object.name());
            let (registered, said) = libbpf_log::capture(|| register(&object, &kernel_name));
            match registered {
                Ok((link, storage)) => {
                    return Ok(Self {
                        kernel_name,
                        object,
                        storage,
                        _link: link,
                    });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
                // The kernel checks the flags when the table is registered, and says nothing else.
                Err(error) if error.kind() == ErrorKind::InvalidInput && object.needs_accecn() => {
                    return Err(failure::no_accurate_ecn(&request.name));
                }
                Err(error) => return Err(failure::explain(&request.name, &error, &said)),
            }
        }
    }

    /// The name in its source.
    pub(crate) fn name(&self) -> &str {
        self.object.name()
    }

    /// Whether it needs ECN on its connections.
    pub(crate) fn needs_ecn(&self) -> bool {
        self.object.needs_ecn()
    }

    /// Whether its connections have Accurate ECN.
    pub(crate) fn needs_accecn(&self) -> bool {
        self.object.needs_accecn()
    }

    /// Whether its packets are ECT(1).
    pub(crate) fn sends_ect1(&self) -> bool {
        self.object.sends_ect1()
    }

    /// A digest of the loaded object.
    pub(crate) fn build(&self) -> &str {
        self.object.build()
    }

    /// The parameters in force.
    pub(crate) fn params(&self) -> &BTreeMap<String, i64> {
        self.object.params()
    }

    /// What its source declares.
    pub(crate) fn declared(&self) -> Declared {
        self.object.declared()
    }

    /// The time series that [`Loaded::read_series`] passes on, in its order.
    pub(crate) fn series(&self) -> &[Series] {
        self.object.series()
    }

    /// Passes each series' index and raw value to `take`. `storage` is that of a
    /// [`StateReader`](super::StateReader).
    pub(crate) fn read_series(
        &self,
        state: &SocketState,
        storage: &[u64],
        take: impl FnMut(usize, u64),
    ) {
        self.object.read_series(&state.ca_priv, storage, take);
    }

    /// The storage map, and how many words of a value, from its start, contain series; `None` if it
    /// has none.
    pub(super) fn storage(&self) -> Option<(BorrowedFd<'_>, usize)> {
        let words = self.object.storage_series_words();
        let map = self.storage.as_ref().filter(|_| words > 0)?;
        Some((map.as_fd(), words))
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loaded({})", self.kernel_name)
    }
}

/// Loads the object and registers its ops table. The result keeps all of it alive.
fn register(
    object: &BpfObject,
    kernel_name: &str,
) -> libbpf_rs::Result<(OwnedFd, Option<OwnedFd>)> {
    let mut open = ObjectBuilder::default().open_memory(object.bytes())?;
    leave_out_other_tables(&mut open, object)?;
    write_constants(&mut open, object);
    write_name(&mut open, object, kernel_name)?;
    if leaves_programs_out() {
        leave_out_min_tso_segs(&mut open, object);
    }
    let mut loaded = open.load()?;
    let storage = storage_map(&loaded, object.storage_bytes())?;
    let mut table = loaded
        .maps_mut()
        .find(|map| map.name() == object.ops_table())
        .ok_or_else(|| libbpf_rs::Error::from_raw_os_error(libc::ENOENT))?;
    let link = table.attach_struct_ops()?;
    Ok((link.as_fd().try_clone_to_owned()?, storage))
}

/// Does not load the file's other ops tables; libbpf then does not load their programs.
fn leave_out_other_tables(open: &mut OpenObject, object: &BpfObject) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        if map.map_type() == MapType::StructOps && map.name() != object.ops_table() {
            map.set_autocreate(false)?;
        }
    }
    Ok(())
}

fn write_constants(open: &mut OpenObject, object: &BpfObject) {
    let mut map = open.maps_mut().find(|map| {
        map.name()
            .as_encoded_bytes()
            .ends_with(CONSTANTS.as_bytes())
    });
    let Some(image) = map.as_mut().and_then(|map| map.initial_value_mut()) else {
        debug_assert!(object.constants().is_empty());
        return;
    };
    for constant in object.constants() {
        image[constant.offset..][..constant.bytes.len()].copy_from_slice(&constant.bytes);
    }
}

/// Gives the ops table its name in the kernel, and its flags.
fn write_name(
    open: &mut OpenObject,
    object: &BpfObject,
    kernel_name: &str,
) -> libbpf_rs::Result<()> {
    let mut table = open
        .maps_mut()
        .find(|map| map.name() == object.ops_table())
        .ok_or_else(|| libbpf_rs::Error::from_raw_os_error(libc::ENOENT))?;
    table.set_map_flags(table.map_flags() | BY_LINK)?;
    if let Some(image) = table.initial_value_mut() {
        let name = &mut image[BpfObject::NAME_OFFSET..][..BpfObject::NAME_BYTES];
        name.fill(0);
        name[..kernel_name.len()].copy_from_slice(kernel_name.as_bytes());
        if let Some(flags) = image[BpfObject::FLAGS_OFFSET..].first_chunk_mut() {
            *flags = object
                .registered_flags(u32::from_ne_bytes(*flags))
                .to_ne_bytes();
        }
    }
    Ok(())
}

/// Removes `min_tso_segs` from the ops table, and its program. It is called for every burst; on a kernel that now and then
/// leaves a program out ([`leaves_programs_out`]) its result is then a part of an address, and some 40 to 90 packets leave at
/// once, about once a second. Linux's own minimum, 2, is used instead.
fn leave_out_min_tso_segs(open: &mut OpenObject, object: &BpfObject) {
    let mut table = open.maps_mut().find(|map| map.name() == object.ops_table());
    let Some(image) = table.as_mut().and_then(|map| map.initial_value_mut()) else {
        return;
    };
    // Until it is loaded, libbpf keeps the address of its program here.
    let slot = &mut image[BpfObject::MIN_TSO_SEGS_OFFSET..][..size_of::<usize>()];
    let mut address = [0; size_of::<usize>()];
    address.copy_from_slice(slot);
    slot.fill(0);
    let address = usize::from_ne_bytes(address);
    for mut program in open.progs_mut() {
        if program.as_libbpf_object().addr().get() == address {
            program.set_autoload(false);
        }
    }
}

/// The map in which the congestion control algorithm keeps its sockets' state.
fn storage_map(loaded: &Object, value_bytes: usize) -> libbpf_rs::Result<Option<OwnedFd>> {
    let map = loaded.maps().find(|map| {
        map.map_type() == MapType::SkStorage && map.value_size() as usize == value_bytes
    });
    map.map(|map| Ok(map.as_fd().try_clone_to_owned()?))
        .transpose()
}
