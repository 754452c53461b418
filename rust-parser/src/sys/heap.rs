//! The heap of the process after bulk work.

/// Return freed memory to the system, where the C library has a call for that: free blocks between live ones included.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no pointers, may be called from any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}
