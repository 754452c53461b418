//! The VFS "atlas-pages": the default one, but for database files and their logs. And the extension that registers it.

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::ptr;

use super::database::Database;
use super::log::Log;
use super::sqlite::{
    CANTOPEN, ERROR, FCNTL_CHECKPOINT_DONE, FCNTL_CHECKPOINT_START, FCNTL_PRAGMA, FULL, File, IOCAP_SUBPAGE_READ,
    IOERR_SHMLOCK, IOERR_SHMOPEN, IOERR_SHMSIZE, Methods, OK, OK_LOAD_PERMANENTLY, OPEN_MAIN_DB, OPEN_READONLY,
    OPEN_WAL, READONLY, READONLY_CANTINIT, Raw, SQLITE, Sqlite, Vfs,
};

const NAME: &CStr = c"atlas-pages";
/// `PRAGMA atlas_page_check('<first>:<count>')`; see `Database::check`.
const CHECK: &CStr = c"atlas_page_check";
/// `PRAGMA atlas_page_seal`; see `Database::seal_all`.
const SEAL: &CStr = c"atlas_page_seal";

/// A checked file. The file of the default VFS lies behind it in the memory that SQLite gives.
#[repr(C)]
struct Checked<T> {
    file: File,
    own: *mut T,
}

const HEAD: usize = size_of::<Checked<c_void>>();

static DATABASE: Methods = methods(close_database, read_database, write_database, control_database);
static LOG: Methods = methods(close_log, read_log, write_log, control);

type Close = unsafe extern "C" fn(*mut File) -> c_int;
type Read = unsafe extern "C" fn(*mut File, *mut c_void, c_int, i64) -> c_int;
type Write = unsafe extern "C" fn(*mut File, *const c_void, c_int, i64) -> c_int;
type Control = unsafe extern "C" fn(*mut File, c_int, *mut c_void) -> c_int;

const fn methods(close: Close, read: Read, write: Write, file_control: Control) -> Methods {
    Methods {
        version: 2,
        close,
        read,
        write,
        truncate,
        sync,
        file_size,
        lock,
        unlock,
        check_reserved_lock,
        file_control,
        sector_size,
        device_characteristics,
        shm_map,
        shm_lock,
        shm_barrier,
        shm_unmap,
    }
}

/// What SQLite calls when this library is loaded for page checks: registers the VFS, once per process.
///
/// # Safety
/// Called by SQLite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atlas_pages_init(
    _connection: *mut c_void,
    _message: *mut *mut c_char,
    routines: *const *const c_void,
) -> c_int {
    // SAFETY: what SQLite gives to an extension; a VFS that is registered must never be freed
    unsafe {
        let Some(sqlite) = Sqlite::from(routines) else { return ERROR };
        if !(sqlite.find_vfs)(NAME.as_ptr()).is_null() {
            return OK_LOAD_PERMANENTLY;
        }
        let default = (sqlite.find_vfs)(ptr::null());
        if default.is_null() || (*default).version < 2 || SQLITE.set(sqlite).is_err() {
            return ERROR;
        }
        let vfs = Box::leak(Box::new(Vfs {
            version: 2,
            file_bytes: (*default).file_bytes + HEAD as c_int,
            longest_path: (*default).longest_path,
            next: ptr::null_mut(),
            name: NAME.as_ptr(),
            data: default.cast(),
            open,
            delete,
            access,
            full_path,
            dl_open,
            dl_error,
            dl_symbol,
            dl_close,
            randomness,
            sleep,
            time,
            last_error,
            time_ms: (*default).time_ms.map(|_| time_ms as unsafe extern "C" fn(*mut Vfs, *mut i64) -> c_int),
        }));
        match (sqlite.register_vfs)(vfs, 0) {
            OK => OK_LOAD_PERMANENTLY,
            code => code,
        }
    }
}

/// Open a file. A log finds the database file of its connection by its name, which SQLite made.
unsafe extern "C" fn open(vfs: *mut Vfs, name: *const c_char, file: *mut File, flags: c_int, out: *mut c_int) -> c_int {
    // SAFETY: SQLite gives memory for `file_bytes`; what is put there is freed by `close`
    unsafe {
        let default = real_vfs(vfs);
        if flags & (OPEN_MAIN_DB | OPEN_WAL) == 0 || name.is_null() {
            return ((*default).open)(default, name, file, flags, out);
        }
        let database = if flags & OPEN_WAL == 0 { ptr::null_mut() } else { database_of(name) };
        if flags & OPEN_WAL != 0 && database.is_null() {
            return ((*default).open)(default, name, file, flags, out);
        }
        let inner = real(file);
        let code = ((*default).open)(default, name, inner, flags, out);
        if code != OK || (*(*inner).methods).version < 2 {
            let refused = if code == OK { ((*(*inner).methods).close)(inner).max(ERROR) } else { code };
            (*file).methods = ptr::null();
            return refused;
        }
        let raw = Raw::new(inner);
        if database.is_null() {
            let opened = if out.is_null() { flags } else { *out };
            (*file.cast::<Checked<Database>>()).own =
                Box::into_raw(Box::new(Database::new(raw, opened & OPEN_READONLY != 0)));
            (*file).methods = &raw const DATABASE;
        } else {
            let log = Box::into_raw(Box::new(Log::new(raw, database)));
            (*database).log = log;
            (*file.cast::<Checked<Log>>()).own = log;
            (*file).methods = &raw const LOG;
        }
        OK
    }
}

/// # Safety
/// `name` is that of a log, as SQLite gives it to `open`.
unsafe fn database_of(name: *const c_char) -> *mut Database {
    let Some(sqlite) = SQLITE.get() else { return ptr::null_mut() };
    // SAFETY: the caller's; a file with these methods is one of ours
    unsafe {
        let file = (sqlite.database_file)(name);
        let ours = !file.is_null() && ptr::eq((*file).methods, &raw const DATABASE);
        if ours { own::<Database>(file) } else { ptr::null_mut() }
    }
}

/// The file of the default VFS.
unsafe fn real(file: *mut File) -> *mut File {
    // SAFETY: it lies behind ours, in the memory that SQLite gave for both
    unsafe { file.cast::<u8>().add(HEAD).cast() }
}

unsafe fn own<T>(file: *mut File) -> *mut T {
    // SAFETY: the methods of a file are those of its type
    unsafe { (*file.cast::<Checked<T>>()).own }
}

unsafe extern "C" fn close_database(file: *mut File) -> c_int {
    // SAFETY: called once per file that was opened
    unsafe {
        drop(Box::from_raw(own::<Database>(file)));
        forward(file, |inner, methods| (methods.close)(inner))
    }
}

unsafe extern "C" fn close_log(file: *mut File) -> c_int {
    // SAFETY: called once per file that was opened; the database is closed later
    unsafe {
        let log = Box::from_raw(own::<Log>(file));
        (*log.database()).log = ptr::null_mut();
        forward(file, |inner, methods| (methods.close)(inner))
    }
}

/// Defines the reading and writing methods of a type of file. SQLite gives memory of the length that it tells.
macro_rules! reads_and_writes {
    ($read:ident, $write:ident, $type:ty) => {
        unsafe extern "C" fn $read(file: *mut File, bytes: *mut c_void, length: c_int, offset: i64) -> c_int {
            let (Ok(length), Ok(offset)) = (usize::try_from(length), u64::try_from(offset)) else { return ERROR };
            // SAFETY: as SQLite calls it
            unsafe { (*own::<$type>(file)).read(std::slice::from_raw_parts_mut(bytes.cast(), length), offset) }
        }

        unsafe extern "C" fn $write(file: *mut File, bytes: *const c_void, length: c_int, offset: i64) -> c_int {
            let (Ok(length), Ok(offset)) = (usize::try_from(length), u64::try_from(offset)) else { return ERROR };
            // SAFETY: as SQLite calls it
            unsafe { (*own::<$type>(file)).write(std::slice::from_raw_parts(bytes.cast(), length), offset) }
        }
    };
}

reads_and_writes!(read_database, write_database, Database);
reads_and_writes!(read_log, write_log, Log);

unsafe extern "C" fn control_database(file: *mut File, operation: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: as SQLite calls it: the argument of a pragma is an array of three texts
    unsafe {
        let database = &mut *own::<Database>(file);
        match operation {
            FCNTL_CHECKPOINT_START => database.checkpoint_starts(),
            FCNTL_CHECKPOINT_DONE => database.checkpoint_ends(),
            FCNTL_PRAGMA => {
                let texts = argument.cast::<*mut c_char>();
                let answer = match CStr::from_ptr(*texts.add(1)) {
                    name if name == CHECK => Some(checked(database, *texts.add(2))),
                    name if name == SEAL => Some(database.seal_all()),
                    _ => None,
                };
                if let Some(answer) = answer {
                    *texts = text(&answer);
                    return OK;
                }
            }
            _ => {}
        }
        control(file, operation, argument)
    }
}

/// # Safety
/// `range` is null or a text.
unsafe fn checked(database: &Database, range: *const c_char) -> String {
    // SAFETY: the caller's
    let range = if range.is_null() { c"" } else { unsafe { CStr::from_ptr(range) } };
    let (first, count) = range.to_str().unwrap_or("").split_once(':').unwrap_or(("1", ""));
    database.check(first.parse().unwrap_or(1), count.parse().unwrap_or(u64::MAX))
}

/// A text that SQLite frees; null when there is no memory for it.
fn text(value: &str) -> *mut c_char {
    let (Some(sqlite), Ok(value)) = (SQLITE.get(), CString::new(value)) else { return ptr::null_mut() };
    let bytes = value.as_bytes_with_nul();
    // SAFETY: as much memory as is copied
    unsafe {
        let copy: *mut c_char = (sqlite.malloc)(c_int::try_from(bytes.len()).unwrap_or(0)).cast();
        if !copy.is_null() {
            ptr::copy_nonoverlapping(bytes.as_ptr().cast(), copy, bytes.len());
        }
        copy
    }
}

/// Map shared memory. A reader for whom none can be made, on a disk that is full, reads the log without it: SQLite has
/// the way for that ("unreliable shared memory"), which it takes when it is told that the memory cannot be initialized.
///
/// It asks first whether the memory is there, so a reader makes it at that time. Once told otherwise, a connection can
/// use shared memory that others have initialized, which it is told by `READONLY`, but no other: it would not do so itself.
unsafe extern "C" fn shm_map(file: *mut File, page: c_int, size: c_int, extend: c_int, at: *mut *mut c_void) -> c_int {
    // SAFETY: only database files have shared memory
    unsafe {
        let map = |extend| forward(file, |inner, methods| (methods.shm_map)(inner, page, size, extend, at));
        let database = &mut *own::<Database>(file);
        let mut code = map(extend);
        if !database.read_only {
            return code;
        }
        if database.without_shm {
            return match code {
                OK if !(*at).is_null() => READONLY,
                _ if page == 0 => cannot_initialize(at),
                code => code,
            };
        }
        if page == 0 && code == OK && (*at).is_null() {
            code = map(1);
        }
        if page == 0 && matches!(code, IOERR_SHMSIZE | IOERR_SHMOPEN | CANTOPEN | FULL) {
            database.without_shm = true;
            return cannot_initialize(at);
        }
        code
    }
}

/// # Safety
/// As `shm_map` is called.
unsafe fn cannot_initialize(at: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's
    unsafe { *at = ptr::null_mut() };
    READONLY_CANTINIT
}

unsafe extern "C" fn shm_lock(file: *mut File, first: c_int, count: c_int, flags: c_int) -> c_int {
    // SAFETY: only database files have shared memory
    unsafe {
        let code = forward(file, |inner, methods| (methods.shm_lock)(inner, first, count, flags));
        if code == IOERR_SHMLOCK && (*own::<Database>(file)).without_shm { OK } else { code }
    }
}

unsafe fn forward<R>(file: *mut File, call: impl FnOnce(*mut File, &Methods) -> R) -> R {
    // SAFETY: the file of the default VFS is open while ours is
    unsafe {
        let inner = real(file);
        call(inner, &*(*inner).methods)
    }
}

/// Defines methods of files that do what the default VFS does.
macro_rules! forwarded {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name(file: *mut File, $($argument: $type),*) -> $result {
            // SAFETY: as SQLite calls it
            unsafe { forward(file, |inner, methods| (methods.$name)(inner, $($argument),*)) }
        }
    )*};
}

forwarded! {
    truncate(size: i64) -> c_int;
    sync(flags: c_int) -> c_int;
    file_size(size: *mut i64) -> c_int;
    lock(level: c_int) -> c_int;
    unlock(level: c_int) -> c_int;
    check_reserved_lock(held: *mut c_int) -> c_int;
    sector_size() -> c_int;
    shm_barrier() -> ();
    shm_unmap(delete: c_int) -> c_int;
}

unsafe extern "C" fn control(file: *mut File, operation: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: as SQLite calls it
    unsafe { forward(file, |inner, methods| (methods.file_control)(inner, operation, argument)) }
}

unsafe extern "C" fn device_characteristics(file: *mut File) -> c_int {
    // SAFETY: as SQLite calls it
    unsafe { forward(file, |inner, methods| (methods.device_characteristics)(inner) & !IOCAP_SUBPAGE_READ) }
}

unsafe fn real_vfs(vfs: *mut Vfs) -> *mut Vfs {
    // SAFETY: what `atlas_pages_init` put there
    unsafe { (*vfs).data.cast() }
}

/// Defines functions of the VFS that do what the default one does.
macro_rules! default {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name(vfs: *mut Vfs, $($argument: $type),*) -> $result {
            // SAFETY: as SQLite calls it
            unsafe {
                let default = real_vfs(vfs);
                ((*default).$name)(default, $($argument),*)
            }
        }
    )*};
}

default! {
    delete(name: *const c_char, sync: c_int) -> c_int;
    access(name: *const c_char, flags: c_int, answer: *mut c_int) -> c_int;
    full_path(name: *const c_char, length: c_int, path: *mut c_char) -> c_int;
    dl_open(name: *const c_char) -> *mut c_void;
    dl_error(length: c_int, message: *mut c_char) -> ();
    dl_symbol(library: *mut c_void, name: *const c_char) -> *mut c_void;
    dl_close(library: *mut c_void) -> ();
    randomness(length: c_int, bytes: *mut c_char) -> c_int;
    sleep(microseconds: c_int) -> c_int;
    time(days: *mut c_double) -> c_int;
    last_error(length: c_int, message: *mut c_char) -> c_int;
}

unsafe extern "C" fn time_ms(vfs: *mut Vfs, now: *mut i64) -> c_int {
    // SAFETY: registered only where the default VFS has it
    unsafe {
        let default = real_vfs(vfs);
        (*default).time_ms.map_or(ERROR, |call| call(default, now))
    }
}
