//! Time limits counted in CPU time of the calling thread: what is found in a file must not depend on how busy the machine is.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment of the calling thread's CPU time.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    end: Duration,
}

impl Deadline {
    /// So much of this thread's work from now.
    pub fn after(limit: Duration) -> Self {
        Deadline { end: thread_time().saturating_add(limit) }
    }

    /// To be asked on the thread that made the deadline.
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
