//! Returns heap memory to the operating system after bulk work.

/// Releases free heap blocks, including those between live ones, to the operating system where the C library supports
/// it.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no pointers and may be called from any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}
