//! Returns memory to the operating system after bulk work.

/// Releases free heap blocks, including those between live ones, and the pages of `release_constants`, where the C
/// library and the system support it.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no pointers and may be called from any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
    release_constants();
}

/// Takes the constants of this library out of resident memory on 64-bit Linux: tables of grammars and tokens, up to 20 MB, of
/// which most are read once. A page that is read again comes back from the file, as a rule from the system's cache.
pub fn release_constants() {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    // SAFETY: the function calls `release` during the call only, with the description of each loaded library.
    unsafe {
        libc::dl_iterate_phdr(Some(release), std::ptr::null_mut());
    }
}

/// Releases the segments of the library of this function that can neither be written nor executed.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
unsafe extern "C" fn release(info: *mut libc::dl_phdr_info, _: libc::size_t, _: *mut libc::c_void) -> libc::c_int {
    const PAGE: usize = 1 << 16; // the largest page size: 64 KB on some ARM systems
    // SAFETY: the C library passes a description and its program headers, which live as long as the library is loaded.
    let (base, headers) = unsafe {
        let info = &*info;
        (info.dlpi_addr as usize, std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)))
    };
    let range = |header: &libc::Elf64_Phdr| {
        let start = base + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    if !loaded.clone().any(|header| range(header).contains(&(release as *const () as usize))) {
        return 0;
    }
    for header in loaded.filter(|header| header.p_flags == libc::PF_R) {
        let (start, end) = (range(header).start.next_multiple_of(PAGE), range(header).end / PAGE * PAGE);
        if start < end {
            // SAFETY: whole pages of one private mapping of a file that nothing has written to: position-independent
            // code has its relocations in writable segments. Readers find the same bytes in the file again.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::{release_constants, trim_heap};

    static TABLE: [u8; 1 << 18] = [7; 1 << 18];

    #[test]
    fn constants_are_the_same_afterwards() {
        for _ in 0..2 {
            assert!(TABLE.iter().all(|byte| *byte == 7));
            release_constants();
            trim_heap();
        }
    }
}
