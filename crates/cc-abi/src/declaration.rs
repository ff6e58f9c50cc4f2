//! Parameters and time series: `cc/include/dumbbell.h` for Rust.

use core::cell::UnsafeCell;

/// A parameter's variable, which the host sets when it loads the object.
#[repr(transparent)]
pub struct Param<T>(UnsafeCell<T>);

// SAFETY: the host writes it before it is read, and an object runs on one thread.
unsafe impl<T: Copy> Sync for Param<T> {}

impl<T: Copy> Param<T> {
    /// A parameter with its default.
    pub const fn new(default: T) -> Self {
        Self(UnsafeCell::new(default))
    }

    /// The value in force.
    pub fn get(&self) -> T {
        // SAFETY: always initialised; volatile, because the host changed it behind the compiler.
        unsafe { self.0.get().read_volatile() }
    }
}

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

impl Declaration {
    const PARAM: u32 = 1;
    const SERIES: u32 = 2;

    /// A parameter of `size` bytes.
    pub const fn param(
        name: &str,
        unit: &str,
        doc: &str,
        size: usize,
        signed: bool,
        range: (i64, i64),
        default: i64,
    ) -> Self {
        Self {
            kind: Self::PARAM,
            flags: signed as u32,
            size: size as u32,
            min: range.0,
            max: range.1,
            default,
            ..Self::new(name, unit, doc)
        }
    }

    /// A field of the state: `size` bytes at `offset`.
    pub const fn series(name: &str, unit: &str, doc: &str, offset: usize, size: usize) -> Self {
        Self {
            kind: Self::SERIES,
            offset: offset as u32,
            size: size as u32,
            mul: 1,
            div: 1,
            ..Self::new(name, unit, doc)
        }
    }

    const fn new(name: &str, unit: &str, doc: &str) -> Self {
        Self {
            name: text(name),
            unit: text(unit),
            doc: text(doc),
            kind: 0,
            flags: 0,
            offset: 0,
            size: 0,
            mul: 0,
            div: 0,
            min: 0,
            max: 0,
            default: 0,
        }
    }
}

/// Text padded with zeros.
const fn text<const BYTES: usize>(text: &str) -> [u8; BYTES] {
    assert!(text.len() < BYTES, "the text of a declaration is too long");
    let mut bytes = [0; BYTES];
    let mut i = 0;
    while i < text.len() {
        bytes[i] = text.as_bytes()[i];
        i += 1;
    }
    bytes
}

/// Declares an integer parameter: variable, type, default, range, unit, explanation. One per line.
///
/// ```ignore
/// param!(beta: u32 = 717, 1..=1023, "/1024", "share of cwnd kept after a loss");
/// let beta = beta.get();
/// ```
#[macro_export]
macro_rules! param {
    ($name:ident: $type:ty = $default:literal, $min:literal..=$max:literal, $unit:literal, $doc:literal) => {
        #[allow(non_upper_case_globals, reason = "the name that users write")]
        #[unsafe(no_mangle)]
        pub static $name: $crate::Param<$type> = $crate::Param::new($default);

        const _: () = {
            #[used]
            #[unsafe(link_section = "dumbbell_decl")]
            #[unsafe(export_name = concat!("__dumbbell_decl_", line!()))]
            static DECLARATION: $crate::Declaration = $crate::Declaration::param(
                stringify!($name),
                $unit,
                $doc,
                ::core::mem::size_of::<$type>(),
                <$type>::MIN != 0,
                ($min, $max),
                $default,
            );
        };
    };
}

/// Declares a field of the state as a time series: state, field, its type, column with its unit,
/// unit, explanation. One per line.
///
/// ```ignore
/// series!(Mine, w_max_pkts: u32, "w_max_pkts", "pkts", "cwnd before the last reduction");
/// ```
#[macro_export]
macro_rules! series {
    ($state:ty, $field:ident: $type:ty, $name:literal, $unit:literal, $doc:literal) => {
        const _: () = {
            #[used]
            #[unsafe(link_section = "dumbbell_decl")]
            #[unsafe(export_name = concat!("__dumbbell_decl_", line!()))]
            static DECLARATION: $crate::Declaration = $crate::Declaration::series(
                $name,
                $unit,
                $doc,
                ::core::mem::offset_of!($state, $field),
                ::core::mem::size_of::<$type>(),
            );
        };
    };
}
