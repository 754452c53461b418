//! Registers `bm25_best` as an auxiliary function of FTS5, through SQLite's extension interface, and passes the rows of
//! a query to `bm25::Ranking`.
//!
//! The interfaces are those of `sqlite3ext.h` and `fts5.h`, which both only grow at their ends.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use super::api::{ERROR, OK, routine};
use atlas_sqlite::bm25::Ranking;

const VERSION_WITH_POINTERS: c_int = 3_020_000;

type Handle = *mut c_void;
type Unused = *const c_void;
type Destroy = Option<unsafe extern "C" fn(Handle)>;
type Counted = unsafe extern "C" fn(*const Text, Handle, Handle) -> c_int;
type Function = unsafe extern "C" fn(*const Text, Handle, Handle, c_int, *const Handle);

/// `Fts5ExtensionApi`: access to the current query and row.
#[repr(C)]
struct Text {
    version: c_int,
    user_data: unsafe extern "C" fn(Handle) -> *const Sqlite,
    column_count: Unused,
    row_count: unsafe extern "C" fn(Handle, *mut i64) -> c_int,
    column_total_size: unsafe extern "C" fn(Handle, c_int, *mut i64) -> c_int,
    tokenize: Unused,
    phrase_count: unsafe extern "C" fn(Handle) -> c_int,
    phrase_size: Unused,
    inst_count: Unused,
    inst: Unused,
    rowid: unsafe extern "C" fn(Handle) -> i64,
    column_text: Unused,
    column_size: unsafe extern "C" fn(Handle, c_int, *mut c_int) -> c_int,
    query_phrase: unsafe extern "C" fn(Handle, c_int, Handle, Counted) -> c_int,
    set_auxdata: unsafe extern "C" fn(Handle, Handle, Destroy) -> c_int,
    get_auxdata: unsafe extern "C" fn(Handle, c_int) -> Handle,
    phrase_first: unsafe extern "C" fn(Handle, c_int, *mut Place, *mut c_int, *mut c_int) -> c_int,
    phrase_next: unsafe extern "C" fn(Handle, *mut Place, *mut c_int, *mut c_int),
}

/// `Fts5PhraseIter`: the position of an iteration over a phrase.
#[repr(C)]
struct Place {
    from: *const u8,
    to: *const u8,
}

/// `fts5_api`: the registration interface of a connection's FTS5.
#[repr(C)]
struct Fts5 {
    version: c_int,
    create_tokenizer: Unused,
    find_tokenizer: Unused,
    create_function: unsafe extern "C" fn(*mut Fts5, *const c_char, Handle, Function, Destroy) -> c_int,
}

/// The functions used from `sqlite3_api_routines`.
#[derive(Clone, Copy)]
struct Sqlite {
    bind_pointer: unsafe extern "C" fn(Handle, c_int, Handle, *const c_char, Destroy) -> c_int,
    prepare: unsafe extern "C" fn(Handle, *const c_char, c_int, *mut Handle, *mut *const c_char) -> c_int,
    step: unsafe extern "C" fn(Handle) -> c_int,
    finalize: unsafe extern "C" fn(Handle) -> c_int,
    result_double: unsafe extern "C" fn(Handle, f64),
    result_error_code: unsafe extern "C" fn(Handle, c_int),
    value_double: unsafe extern "C" fn(Handle) -> f64,
    value_int64: unsafe extern "C" fn(Handle) -> i64,
    value_text: unsafe extern "C" fn(Handle) -> *const c_char,
}

impl Sqlite {
    /// Reads the functions from their positions in the table. Returns `None` for a SQLite version without one of them.
    ///
    /// # Safety
    /// `routines` must be the pointer that SQLite passes to an extension.
    unsafe fn from(routines: *const Unused) -> Option<Self> {
        // SAFETY: the position of a function in the table and its type are part of SQLite's interface.
        unsafe {
            let version: unsafe extern "C" fn() -> c_int = routine(routines, 67);
            if version() < VERSION_WITH_POINTERS {
                return None;
            }
            Some(Self {
                bind_pointer: routine(routines, 219),
                prepare: routine(routines, 116),
                step: routine(routines, 94),
                finalize: routine(routines, 57),
                result_double: routine(routines, 79),
                result_error_code: routine(routines, 146),
                value_double: routine(routines, 105),
                value_int64: routine(routines, 107),
                value_text: routine(routines, 109),
            })
        }
    }

    /// Returns the connection's FTS5 interface, or null.
    ///
    /// # Safety
    /// `connection` must be open and used only by this thread.
    unsafe fn fts5(&self, connection: Handle) -> *mut Fts5 {
        let mut found: *mut Fts5 = ptr::null_mut();
        let mut statement = ptr::null_mut();
        // SAFETY: this is the sequence that FTS5's documentation gives; `found` outlives the statement.
        unsafe {
            let select = c"SELECT fts5(?1)";
            if (self.prepare)(connection, select.as_ptr(), -1, &raw mut statement, ptr::null_mut()) == OK {
                let place = (&raw mut found).cast();
                (self.bind_pointer)(statement, 1, place, c"fts5_api_ptr".as_ptr(), None);
                (self.step)(statement);
            }
            (self.finalize)(statement);
        }
        found
    }
}

/// The entry point that SQLite calls when it loads this library as an extension. Registers `bm25_best` with the
/// connection.
///
/// # Safety
/// Must only be called by SQLite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atlas_bm25_init(
    connection: Handle,
    _message: *mut *mut c_char,
    routines: *const Unused,
) -> c_int {
    // SAFETY: both pointers come from SQLite and are valid while the connection is open.
    unsafe {
        let Some(sqlite) = Sqlite::from(routines) else { return ERROR };
        let fts5 = sqlite.fts5(connection);
        if fts5.is_null() || (*fts5).version < 2 {
            return ERROR;
        }
        let own = Box::into_raw(Box::new(sqlite)).cast();
        ((*fts5).create_function)(fts5, c"bm25_best".as_ptr(), own, bm25_best, Some(forget::<Sqlite>))
    }
}

unsafe extern "C" fn forget<T>(boxed: Handle) {
    // SAFETY: SQLite passes back, once, the pointer that `Box::into_raw` created from a `T`.
    drop(unsafe { Box::from_raw(boxed.cast::<T>()) });
}

/// The SQL function `bm25_best`. Arguments: limit, hits, weights of the columns.
unsafe extern "C" fn bm25_best(text: *const Text, row: Handle, answer: Handle, count: c_int, arguments: *const Handle) {
    // SAFETY: SQLite passes pointers that are valid for the duration of the call.
    unsafe {
        let text = &*text;
        let sqlite = &*(text.user_data)(row);
        let arguments = std::slice::from_raw_parts(arguments, usize::try_from(count).unwrap_or(0));
        match rank(text, row, sqlite, arguments) {
            Ok(score) => (sqlite.result_double)(answer, -score),
            Err(code) => (sqlite.result_error_code)(answer, code),
        }
    }
}

/// # Safety
/// The arguments must be those that SQLite passes to `bm25_best`.
unsafe fn rank(text: &Text, row: Handle, sqlite: &Sqlite, arguments: &[Handle]) -> Result<f64, c_int> {
    // SAFETY: guaranteed by the caller; the state kept with the query is a `Ranking`, and only this function reads it.
    unsafe {
        let mut kept = (text.get_auxdata)(row, 0).cast::<Ranking>();
        if kept.is_null() {
            kept = Box::into_raw(Box::new(ranking(text, row, sqlite, arguments)?));
            // On failure, this call drops the ranking.
            checked((text.set_auxdata)(row, kept.cast(), Some(forget::<Ranking>)))?;
        }
        let ranking = &mut *kept;
        let id = (text.rowid)(row);
        if ranking.last.0 != id {
            // Computed once per row: SQLite may call for the result and again for the order.
            ranking.last = (id, scored(text, row, ranking)?);
        }
        Ok(ranking.last.1)
    }
}

/// # Safety
/// The same as for `rank`.
unsafe fn ranking(text: &Text, row: Handle, sqlite: &Sqlite, arguments: &[Handle]) -> Result<Ranking, c_int> {
    let [limit, hits, weights @ ..] = arguments else { return Err(ERROR) };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (mut rows, mut tokens) = (0, 0);
        checked((text.row_count)(row, &raw mut rows))?;
        checked((text.column_total_size)(row, -1, &raw mut tokens))?;
        let phrases = (text.phrase_count)(row);
        let told = (sqlite.value_text)(*hits);
        let told = if told.is_null() { c"" } else { CStr::from_ptr(told) };
        let mut hits: Vec<i64> =
            told.to_str().unwrap_or("").split_ascii_whitespace().map_while(|hit| hit.parse().ok()).collect();
        if c_int::try_from(hits.len()) != Ok(phrases) {
            hits.clear();
            for phrase in 0..phrases {
                let mut found = 0_i64;
                checked((text.query_phrase)(row, phrase, (&raw mut found).cast(), one_more))?;
                hits.push(found);
            }
        }
        let weights = weights.iter().map(|&weight| (sqlite.value_double)(weight)).collect();
        let limit = usize::try_from((sqlite.value_int64)(*limit)).unwrap_or(0);
        Ok(Ranking::new(rows, tokens, &hits, weights, limit))
    }
}

unsafe extern "C" fn one_more(_: *const Text, _: Handle, count: Handle) -> c_int {
    // SAFETY: the pointer that was passed to `query_phrase`.
    unsafe { *count.cast::<i64>() += 1 };
    OK
}

/// # Safety
/// The same as for `rank`.
unsafe fn scored(text: &Text, row: Handle, ranking: &mut Ranking) -> Result<f64, c_int> {
    ranking.ends.fill(0);
    for phrase in 0..ranking.frequencies.len() {
        let mut frequency = 0.0;
        let mut place = Place { from: ptr::null(), to: ptr::null() };
        let (mut column, mut offset) = (0, 0);
        // SAFETY: guaranteed by the caller; the phrase is one of the query.
        unsafe {
            checked((text.phrase_first)(row, phrase as c_int, &raw mut place, &raw mut column, &raw mut offset))?;
            while let Ok(at) = usize::try_from(column) {
                frequency += ranking.weights.get(at).copied().unwrap_or(1.0);
                if let Some(end) = ranking.ends.get_mut(at) {
                    *end = (*end).max(offset + 1);
                }
                (text.phrase_next)(row, &raw mut place, &raw mut column, &raw mut offset);
            }
        }
        ranking.frequencies[phrase] = frequency;
    }
    let least_length: c_int = ranking.ends.iter().sum();
    if ranking.cannot_rank(ranking.score(f64::from(least_length))) {
        return Ok(0.0);
    }
    let mut length = 0;
    // SAFETY: guaranteed by the caller.
    checked(unsafe { (text.column_size)(row, -1, &raw mut length) })?;
    let score = ranking.score(f64::from(length));
    ranking.keep(score);
    Ok(score)
}

fn checked(code: c_int) -> Result<(), c_int> {
    if code == OK { Ok(()) } else { Err(code) }
}
