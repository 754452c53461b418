//! Time limits in CPU time of the calling thread: the facts of a file must not depend on the load of the machine.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A point in the calling thread's CPU time.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    end: Duration,
}

impl Deadline {
    /// Creates a deadline after this much CPU time of the calling thread.
    pub fn after(limit: Duration) -> Self {
        Deadline { end: thread_time().saturating_add(limit) }
    }

    /// Returns whether the deadline has passed. Must be called on the thread that created it.
    pub fn has_passed(&self) -> bool {
        thread_time() >= self.end
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_does_not_count() {
        let deadline = Deadline::after(Duration::from_millis(20));
        std::thread::sleep(Duration::from_millis(40));
        assert!(!deadline.has_passed());
        let mut work = 1_u64;
        while !deadline.has_passed() {
            work = std::hint::black_box(work.wrapping_mul(3));
        }
        assert!(thread_time() >= Duration::from_millis(20));
    }
}
