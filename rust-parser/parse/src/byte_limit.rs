//! Limits the number of bytes that threads process concurrently.

use std::sync::{Condvar, Mutex, PoisonError};

/// A counting semaphore in bytes. A thread that would exceed the limit waits; work larger than the limit runs alone.
pub struct ByteLimit {
    limit: u64,
    used: Mutex<u64>,
    freed: Condvar,
}

/// A share of the limit, released on drop.
pub struct Share<'a> {
    of: &'a ByteLimit,
    bytes: u64,
}

impl ByteLimit {
    /// Creates a limit in bytes.
    pub const fn new(limit: u64) -> Self {
        Self { limit, used: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits until this many bytes are free. A thread must not acquire a second share while it holds one.
    pub fn enter(&self, bytes: u64) -> Share<'_> {
        let bytes = bytes.min(self.limit);
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used =
            self.freed.wait_while(used, |used| *used + bytes > self.limit).unwrap_or_else(PoisonError::into_inner);
        *used += bytes;
        Share { of: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.of.used.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.of.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn the_limit_holds_and_larger_work_runs_alone() {
        static LIMIT: ByteLimit = ByteLimit::new(10);
        let (inside, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for bytes in [4, 4, 4, 100, 10, 1, 0, 7] {
                let (inside, most) = (&inside, &most);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let _share = LIMIT.enter(bytes);
                        let now = inside.fetch_add(bytes.min(10), Ordering::SeqCst) + bytes.min(10);
                        most.fetch_max(now, Ordering::SeqCst);
                        inside.fetch_sub(bytes.min(10), Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!((most.into_inner(), *LIMIT.used.lock().unwrap()), (10, 0));
    }
}
