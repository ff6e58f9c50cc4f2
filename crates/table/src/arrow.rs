//! The [C data interface] of Arrow: two structures that the receiver takes over and releases.
//!
//! [C data interface]: https://arrow.apache.org/docs/format/CDataInterface.html

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use crate::batch::Batch;
use crate::column::{Column, Values};

/// The flag of a column with gaps, `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// `struct ArrowSchema`: names and types.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`: values.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

// SAFETY: what the pointers lead to is owned by the structure, and read only until it is released.
unsafe impl Send for ArrowSchema {}
// SAFETY: the same.
unsafe impl Send for ArrowArray {}

/// What an [`ArrowSchema`] points to.
struct SchemaParts {
    name: CString,
    below: Below<ArrowSchema>,
}

/// What an [`ArrowArray`] points to.
struct ArrayParts {
    /// Keeps the values.
    _column: Option<Column>,
    buffers: Box<[*const c_void]>,
    below: Below<ArrowArray>,
}

/// Structures below one, in boxes of their own: a receiver may take each of them over.
struct Below<T> {
    children: Box<[*mut T]>,
    dictionary: *mut T,
}

impl<T> Below<T> {
    fn new(children: Vec<T>, dictionary: Option<T>) -> Self {
        let boxed = |below: T| Box::into_raw(Box::new(below));
        Self {
            children: children.into_iter().map(boxed).collect(),
            dictionary: dictionary.map_or(null_mut(), boxed),
        }
    }
}

impl<T> Drop for Below<T> {
    fn drop(&mut self) {
        for &below in self.children.iter().chain([&self.dictionary]) {
            if !below.is_null() {
                // SAFETY: from `Box::into_raw`. One that was taken over is marked as released, and dropping it does nothing.
                drop(unsafe { Box::from_raw(below) });
            }
        }
    }
}

/// Format of a type, and of its dictionary.
fn format(values: &Values) -> &'static CStr {
    match values {
        Values::U8(_) => c"C",
        Values::U16(_) => c"S",
        Values::U32(_) => c"I",
        Values::U64(_) => c"L",
        Values::I64(_) => c"l",
        Values::F64(_) => c"g",
        Values::Bools { .. } => c"b",
        Values::Texts { .. } => c"u",
        Values::Labels { codes, .. } => format(&codes.content.values),
    }
}

impl ArrowSchema {
    fn new(format: &'static CStr, name: &str, flags: i64, below: Below<Self>) -> Self {
        let name = CString::new(name).expect("a column's name has no NUL");
        let mut parts = Box::new(SchemaParts { name, below });
        Self {
            format: format.as_ptr(),
            name: parts.name.as_ptr(),
            metadata: null(),
            flags,
            n_children: parts.below.children.len() as i64,
            children: parts.below.children.as_mut_ptr(),
            dictionary: parts.below.dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(parts).cast(),
        }
    }

    fn of_column(column: &Column, name: &str, is_nullable: bool) -> Self {
        let labels = column
            .labels()
            .map(|labels| Self::of_column(labels, "", true));
        let format = format(&column.content.values);
        let flags = if is_nullable { NULLABLE } else { 0 };
        Self::new(format, name, flags, Below::new(Vec::new(), labels))
    }
}

impl ArrowArray {
    fn new(
        length: usize,
        null_count: usize,
        buffers: Box<[*const c_void]>,
        column: Option<Column>,
        below: Below<Self>,
    ) -> Self {
        let mut parts = Box::new(ArrayParts {
            _column: column,
            buffers,
            below,
        });
        Self {
            length: length as i64,
            null_count: null_count as i64,
            offset: 0,
            n_buffers: parts.buffers.len() as i64,
            n_children: parts.below.children.len() as i64,
            buffers: parts.buffers.as_mut_ptr(),
            children: parts.below.children.as_mut_ptr(),
            dictionary: parts.below.dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(parts).cast(),
        }
    }

    fn of_column(column: &Column) -> Self {
        let gaps = column.gaps();
        let is_there = gaps.map_or(null(), |gaps| gaps.is_there.bytes().as_ptr().cast());
        let values = column.content.values.buffers();
        let values = values.iter().map(|bytes| bytes.as_ptr().cast());
        Self::new(
            column.len(),
            gaps.map_or(0, |gaps| gaps.count),
            [is_there].into_iter().chain(values).collect(),
            Some(column.clone()),
            Below::new(Vec::new(), column.labels().map(Self::of_column)),
        )
    }
}

impl Batch {
    /// The table as a structure with a field for each column, for a receiver that releases it.
    pub fn to_arrow(&self) -> (ArrowSchema, ArrowArray) {
        let fields = self.columns.iter();
        let fields = fields
            .map(|named| ArrowSchema::of_column(&named.column, &named.name, named.is_nullable));
        let fields = Below::new(fields.collect(), None);
        let columns = self.columns.iter();
        let columns = columns.map(|named| ArrowArray::of_column(&named.column));
        let columns = Below::new(columns.collect(), None);
        // No row of the structure itself is missing.
        let buffers = Box::new([null()]);
        (
            ArrowSchema::new(c"+s", "", 0, fields),
            ArrowArray::new(self.rows, 0, buffers, None, columns),
        )
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the receiver calls this once, with a structure that `ArrowSchema::new` filled.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<SchemaParts>()));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the receiver calls this once, with a structure that `ArrowArray::new` filled.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<ArrayParts>()));
        (*array).release = None;
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released yet.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released yet.
            unsafe { release(self) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_receiver_reads_the_columns_and_releases_them() {
        let column = Column::from(vec![Some(7_u32), None]);
        let labels = Column::labelled(vec![0_u8, 0], &Column::texts(["only"]));
        let batch = Batch::new(vec![("number", column.clone()), ("label", labels.clone())]);
        let (schema, array) = batch.to_arrow();
        drop(batch);
        let owners = || [&column, &labels].map(|column| Arc::strong_count(&column.content));
        assert_eq!(owners(), [2, 2]);
        assert_eq!(
            (schema.n_children, array.n_children, array.length),
            (2, 2, 2)
        );
        // SAFETY: pointers of structures that are not released, within what these say of their lengths.
        unsafe {
            let (number, label) = (&**schema.children, &**schema.children.add(1));
            assert_eq!(CStr::from_ptr(number.name), c"number");
            assert_eq!(
                (CStr::from_ptr(number.format), number.flags),
                (c"I", NULLABLE)
            );
            assert_eq!((CStr::from_ptr(label.format), label.flags), (c"C", 0));
            assert_eq!(CStr::from_ptr((*label.dictionary).format), c"u");
            let number = &**array.children;
            assert_eq!((number.null_count, number.n_buffers), (1, 2));
            assert_eq!(*(*number.buffers).cast::<u8>(), 0b01);
            assert_eq!(*(*number.buffers.add(1)).cast::<u32>(), 7);
            // One that is taken over outlives the rest.
            let taken = std::ptr::read(*array.children);
            (**array.children).release = None;
            drop((schema, array));
            assert_eq!(owners(), [2, 1]);
            drop(taken);
        }
        assert_eq!(owners(), [1, 1]);
    }
}
