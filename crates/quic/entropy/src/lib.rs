//! The crate `rand` with a generator of the thread that can be seeded.
//!
//! Some congestion controllers of QUIC stacks seed themselves from [`rng`], and their stacks have no way to pass a seed.
//! The simulator supplies their clock and their keys, and here their entropy: between [`seed`] and [`unseed`] the
//! thread's generator is one of that seed. Otherwise it is the operating system's, and all else is the genuine crate.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::convert::Infallible;

pub use genuine::*;

use genuine::rngs::{StdRng, ThreadRng};

thread_local! {
    static SEEDED: RefCell<Option<StdRng>> = const { RefCell::new(None) };
}

/// Seeds what [`rng`] returns on this thread.
pub fn seed(seed: u64) {
    SEEDED.set(Some(StdRng::seed_from_u64(seed)));
}

/// Ends what [`seed`] began.
pub fn unseed() {
    SEEDED.set(None);
}

/// The thread's generator.
pub fn rng() -> Generator {
    Generator(genuine::rng())
}

/// What [`rng`] returns.
#[derive(Clone, Debug)]
pub struct Generator(ThreadRng);

impl Generator {
    fn with<T>(
        &mut self,
        seeded: impl FnOnce(&mut StdRng) -> T,
        genuine: impl FnOnce(&mut ThreadRng) -> T,
    ) -> T {
        SEEDED.with_borrow_mut(|own| match own {
            Some(own) => seeded(own),
            None => genuine(&mut self.0),
        })
    }
}

impl TryRng for Generator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.with(|own| own.next_u32(), |genuine| genuine.next_u32()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.with(|own| own.next_u64(), |genuine| genuine.next_u64()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        SEEDED.with_borrow_mut(|own| match own {
            Some(own) => own.fill_bytes(bytes),
            None => self.0.fill_bytes(bytes),
        });
        Ok(())
    }
}

impl TryCryptoRng for Generator {}
