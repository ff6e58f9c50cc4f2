//! Asks the kernel for large pages: memory that is used at random costs a walk of the page tables for each small one.

use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// Less memory would not fill one, bytes.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// Room for `len` values, in large pages where the kernel gives those that are asked for.
pub fn vec_in_large_pages<T>(len: usize) -> Vec<T> {
    let mut values = Vec::with_capacity(len);
    let room = values.spare_capacity_mut().as_mut_ptr_range();
    let page = page_size();
    let start = room.start.addr().next_multiple_of(page);
    let end = room.end.addr() / page * page;
    if start + LARGE_PAGE_BYTES <= end {
        let pages = room.start.with_addr(start).cast();
        // SAFETY: these pages lie in memory that `values` owns. The advice changes neither what is in it nor who may use it.
        // An error means that there will be small pages, as without it.
        let _ = unsafe { madvise(pages, end - start, Advice::LinuxHugepage) };
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_and_it_keeps_what_is_put_there() {
        for len in [0, 1, 1000, 1 << 20] {
            let mut values: Vec<u32> = vec_in_large_pages(len as usize);
            assert!(values.capacity() >= len as usize);
            let place = values.as_ptr();
            values.extend(0..len);
            assert_eq!(place, values.as_ptr(), "the room was enough");
            assert!(values.into_iter().eq(0..len));
        }
    }
}
