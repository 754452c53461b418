//! SQLite's VFS interfaces, as `sqlite3.h` declares them, and safe access to open files.

use std::ffi::{c_char, c_double, c_int, c_void};
use std::sync::OnceLock;

use atlas_sqlite::page_checksums::page_file::PageFile;
pub use atlas_sqlite::page_checksums::page_file::{ERROR, FULL, OK};

pub const OK_LOAD_PERMANENTLY: c_int = 1 << 8;
pub const CANTOPEN: c_int = 14;
pub const READONLY: c_int = 8;
pub const READONLY_CANTINIT: c_int = READONLY | (5 << 8);
pub const IOERR_SHMOPEN: c_int = 10 | (18 << 8);
pub const IOERR_SHMSIZE: c_int = 10 | (19 << 8);
pub const IOERR_SHMLOCK: c_int = 10 | (20 << 8);

pub const OPEN_READONLY: c_int = 1;
pub const OPEN_MAIN_DB: c_int = 0x100;
pub const OPEN_WAL: c_int = 0x8_0000;

pub const FCNTL_PRAGMA: c_int = 14;
pub const FCNTL_CHECKPOINT_DONE: c_int = 37;
pub const FCNTL_CHECKPOINT_START: c_int = 39;

/// Device characteristic: SQLite may read parts of pages directly from the file, past the page cache. Must not be set
/// when pages are verified.
pub const IOCAP_SUBPAGE_READ: c_int = 0x8000;

/// `sqlite3_file`, and `sqlite3_io_methods` up to version 2.
#[repr(C)]
pub struct File {
    pub methods: *const Methods,
}

/// `sqlite3_io_methods`.
#[repr(C)]
pub struct Methods {
    pub version: c_int,
    pub close: unsafe extern "C" fn(*mut File) -> c_int,
    pub read: unsafe extern "C" fn(*mut File, *mut c_void, c_int, i64) -> c_int,
    pub write: unsafe extern "C" fn(*mut File, *const c_void, c_int, i64) -> c_int,
    pub truncate: unsafe extern "C" fn(*mut File, i64) -> c_int,
    pub sync: unsafe extern "C" fn(*mut File, c_int) -> c_int,
    pub file_size: unsafe extern "C" fn(*mut File, *mut i64) -> c_int,
    pub lock: unsafe extern "C" fn(*mut File, c_int) -> c_int,
    pub unlock: unsafe extern "C" fn(*mut File, c_int) -> c_int,
    pub check_reserved_lock: unsafe extern "C" fn(*mut File, *mut c_int) -> c_int,
    pub file_control: unsafe extern "C" fn(*mut File, c_int, *mut c_void) -> c_int,
    pub sector_size: unsafe extern "C" fn(*mut File) -> c_int,
    pub device_characteristics: unsafe extern "C" fn(*mut File) -> c_int,
    pub shm_map: unsafe extern "C" fn(*mut File, c_int, c_int, c_int, *mut *mut c_void) -> c_int,
    pub shm_lock: unsafe extern "C" fn(*mut File, c_int, c_int, c_int) -> c_int,
    pub shm_barrier: unsafe extern "C" fn(*mut File),
    pub shm_unmap: unsafe extern "C" fn(*mut File, c_int) -> c_int,
}

/// `sqlite3_vfs` up to version 2.
#[repr(C)]
pub struct Vfs {
    pub version: c_int,
    pub file_bytes: c_int,
    pub longest_path: c_int,
    pub next: *mut Self,
    pub name: *const c_char,
    pub data: *mut c_void,
    pub open: unsafe extern "C" fn(*mut Self, *const c_char, *mut File, c_int, *mut c_int) -> c_int,
    pub delete: unsafe extern "C" fn(*mut Self, *const c_char, c_int) -> c_int,
    pub access: unsafe extern "C" fn(*mut Self, *const c_char, c_int, *mut c_int) -> c_int,
    pub full_path: unsafe extern "C" fn(*mut Self, *const c_char, c_int, *mut c_char) -> c_int,
    pub dl_open: unsafe extern "C" fn(*mut Self, *const c_char) -> *mut c_void,
    pub dl_error: unsafe extern "C" fn(*mut Self, c_int, *mut c_char),
    pub dl_symbol: unsafe extern "C" fn(*mut Self, *mut c_void, *const c_char) -> *mut c_void,
    pub dl_close: unsafe extern "C" fn(*mut Self, *mut c_void),
    pub randomness: unsafe extern "C" fn(*mut Self, c_int, *mut c_char) -> c_int,
    pub sleep: unsafe extern "C" fn(*mut Self, c_int) -> c_int,
    pub time: unsafe extern "C" fn(*mut Self, *mut c_double) -> c_int,
    pub last_error: unsafe extern "C" fn(*mut Self, c_int, *mut c_char) -> c_int,
    pub time_ms: Option<unsafe extern "C" fn(*mut Self, *mut i64) -> c_int>,
}

/// The functions used from `sqlite3_api_routines`, a table that only grows at its end.
#[derive(Clone, Copy)]
pub struct Sqlite {
    pub malloc: unsafe extern "C" fn(c_int) -> *mut c_void,
    pub database_file: unsafe extern "C" fn(*const c_char) -> *mut File,
    pub find_vfs: unsafe extern "C" fn(*const c_char) -> *mut Vfs,
    pub register_vfs: unsafe extern "C" fn(*mut Vfs, c_int) -> c_int,
}

/// The SQLite library that loaded this extension first.
pub static SQLITE: OnceLock<Sqlite> = OnceLock::new();

const VERSION_WITH_DATABASE_FILE: c_int = 3_032_000;

impl Sqlite {
    /// Reads the functions from their positions in the table. Returns `None` for a SQLite version without one of them.
    ///
    /// # Safety
    /// `routines` must be the pointer that SQLite passes to an extension.
    pub unsafe fn from(routines: *const *const c_void) -> Option<Self> {
        // SAFETY: the position of a function in the table and its type are part of SQLite's interface.
        unsafe {
            let version: unsafe extern "C" fn() -> c_int = routine(routines, 67);
            if version() < VERSION_WITH_DATABASE_FILE {
                return None;
            }
            Some(Self {
                malloc: routine(routines, 68),
                find_vfs: routine(routines, 141),
                register_vfs: routine(routines, 142),
                database_file: routine(routines, 251),
            })
        }
    }
}

/// # Safety
/// The table must hold a function of type `F` at this position.
pub unsafe fn routine<F: Copy>(routines: *const *const c_void, place: usize) -> F {
    // SAFETY: guaranteed by the caller.
    unsafe { *routines.add(place).cast::<F>() }
}

/// A file opened by the default VFS.
#[derive(Clone, Copy)]
pub struct Raw(*mut File);

impl Raw {
    /// # Safety
    /// The file must be open, stay open for the lifetime of this value, and be used by one thread at a time.
    pub unsafe fn new(file: *mut File) -> Self {
        Self(file)
    }
}

impl PageFile for Raw {
    fn read(self, bytes: &mut [u8], offset: u64) -> c_int {
        let (Ok(length), Ok(offset)) = (c_int::try_from(bytes.len()), i64::try_from(offset)) else { return ERROR };
        // SAFETY: the file is open (`new`), and the slice has the length that is read.
        unsafe { ((*(*self.0).methods).read)(self.0, bytes.as_mut_ptr().cast(), length, offset) }
    }

    fn write(self, bytes: &[u8], offset: u64) -> c_int {
        let (Ok(length), Ok(offset)) = (c_int::try_from(bytes.len()), i64::try_from(offset)) else { return ERROR };
        // SAFETY: the file is open (`new`), and the slice has the length that is written.
        unsafe { ((*(*self.0).methods).write)(self.0, bytes.as_ptr().cast(), length, offset) }
    }

    fn size(self) -> u64 {
        let mut size = 0;
        // SAFETY: the file is open (`new`).
        let code = unsafe { ((*(*self.0).methods).file_size)(self.0, &raw mut size) };
        if code == OK { u64::try_from(size).unwrap_or(0) } else { 0 }
    }
}
