//! Reads files and collects their matching lines, in two threads.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use grep_matcher::{LineTerminator, Matcher};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use atlas_scan::files::Folder;
use atlas_scan::{decoded, is_binary};

use crate::pattern::Pattern;

const THREADS: usize = 2;
/// Files that a thread takes at once.
const CHUNK: usize = 32;
/// Bytes after which a large file is known to be binary or not.
const START: u64 = 8 << 10;
/// Bytes of a line that is shown whole: what a message says behind the part that is quoted may be the answer.
const WHOLE: usize = 320;
/// Bytes that are shown of a longer one, around the match.
const SHOWN: usize = 160;
const BEFORE_MATCH: usize = 40;
/// Matching lines between two looks at the clock.
const LOOK_EVERY: usize = 1024;
/// Files that are known to hold no secret.
const MAX_CLEAN: usize = 1 << 18;
/// Age of a file before its time stamps tell its versions apart.
const SETTLED: Duration = Duration::from_secs(2);
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// How much is read, counted and kept.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Lines kept of each file; further ones are counted.
    pub keep: usize,
    /// Size of a file.
    pub max_bytes: u64,
    /// Lines counted in all files.
    pub max_lines: usize,
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { keep: 100, max_bytes: 20 << 20, max_lines: 100_000, time: Duration::from_secs(5) }
    }
}

/// The matching lines of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLines {
    pub path: String,
    pub count: usize,
    /// Number from 1 and text without surrounding white space, cut around the match.
    pub lines: Vec<(u64, String)>,
}

/// What a search has found.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Files with a match, in the order in which they were given.
    pub files: Vec<FileLines>,
    /// How many files were left out, by reason: `binary`, `lfs`, `too-large`, `unreadable`, `secrets`.
    pub skipped: Vec<(&'static str, usize)>,
    /// Files that were not read to their end, since time or the number of lines ran out.
    pub unread: usize,
}

/// Searches files; knows which of them hold no secret.
#[derive(Debug, Default)]
pub struct LineSearch {
    clean: Mutex<HashSet<Version>>,
}

/// Inode, time of its last change, size.
type Version = (u64, i64, i64, u64);

/// What became of one file.
enum Outcome {
    Lines(FileLines),
    Unread(FileLines),
    Skipped(&'static str),
}

impl LineSearch {
    /// Searches the files with these paths below a root.
    ///
    /// # Errors
    /// When the root is not a readable folder.
    pub fn search(&self, root: &Path, paths: &[String], pattern: &Pattern, limits: &Limits) -> io::Result<Found> {
        let run = Run {
            root: Folder::open(root)?,
            paths,
            clean: &self.clean,
            limits,
            end: Instant::now() + limits.time,
            next: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
        };
        let mut outcomes = std::thread::scope(|scope| {
            let others: Vec<_> =
                (1..THREADS.min(paths.len().div_ceil(CHUNK))).map(|_| scope.spawn(|| run.work(pattern))).collect();
            let mut outcomes = run.work(pattern);
            for other in others {
                outcomes.extend(other.join().unwrap_or_default());
            }
            outcomes
        });
        outcomes.sort_unstable_by_key(|(position, _)| *position);
        let mut found = Found { unread: paths.len() - outcomes.len(), ..Found::default() };
        for (_, outcome) in outcomes {
            match outcome {
                Outcome::Lines(file) if file.count > 0 => found.files.push(file),
                Outcome::Lines(_) => {}
                Outcome::Unread(file) => {
                    found.unread += 1;
                    found.files.extend((file.count > 0).then_some(file));
                }
                Outcome::Skipped(reason) => match found.skipped.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, count)) => *count += 1,
                    None => found.skipped.push((reason, 1)),
                },
            }
        }
        Ok(found)
    }
}

struct Run<'a> {
    root: Folder,
    paths: &'a [String],
    clean: &'a Mutex<HashSet<Version>>,
    limits: &'a Limits,
    end: Instant,
    next: AtomicUsize,
    counted: AtomicUsize,
}

impl Run<'_> {
    fn work(&self, pattern: &Pattern) -> Vec<(usize, Outcome)> {
        let mut found = Vec::new();
        let mut worker = Worker {
            run: self,
            pattern: pattern.clone(),
            searcher: SearcherBuilder::new()
                .line_terminator(LineTerminator::crlf())
                .binary_detection(BinaryDetection::none())
                .build(),
            folder: None,
            content: Vec::new(),
        };
        loop {
            let first = self.next.fetch_add(CHUNK, Ordering::Relaxed);
            for position in first..(first + CHUNK).min(self.paths.len()) {
                if self.is_over() {
                    return found;
                }
                found.push((position, worker.file(&self.paths[position])));
            }
            if first >= self.paths.len() {
                return found;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.counted.load(Ordering::Relaxed) >= self.limits.max_lines || Instant::now() >= self.end
    }
}

struct Worker<'a> {
    run: &'a Run<'a>,
    pattern: Pattern,
    searcher: Searcher,
    /// The folder of the last file.
    folder: Option<(&'a str, Folder)>,
    content: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn file(&mut self, path: &'a str) -> Outcome {
        let version = match self.read(path) {
            Ok(version) => version,
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Outcome::Skipped("too-large"),
            Err(_) => return Outcome::Skipped("unreadable"),
        };
        if let Cow::Owned(text) = decoded(&self.content) {
            self.content = text;
        }
        if is_binary(&self.content) {
            return Outcome::Skipped("binary");
        }
        if self.content.starts_with(LFS) {
            return Outcome::Skipped("lfs");
        }
        let mut lines = FileLines { path: path.to_owned(), count: 0, lines: Vec::new() };
        if !self.pattern.0.is_match(&self.content).unwrap_or(true) {
            return Outcome::Lines(lines);
        }
        let masked = match self.masked(version) {
            Ok(masked) => masked,
            Err(atlas_secrets::TooMuch) => return Outcome::Skipped("secrets"),
        };
        let text = masked.as_deref().unwrap_or(&self.content);
        let mut sink = Collector { run: self.run, pattern: &self.pattern, lines: &mut lines, is_cut: false };
        let is_read = self.searcher.search_slice(&self.pattern.0, text, &mut sink).is_ok() && !sink.is_cut;
        if is_read { Outcome::Lines(lines) } else { Outcome::Unread(lines) }
    }

    /// Reads a file, of a binary one perhaps only its start, and returns its version if that tells it apart from others.
    fn read(&mut self, path: &'a str) -> io::Result<Option<Version>> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if self.folder.as_ref().is_none_or(|(known, _)| *known != folder) {
            self.folder = Some((folder, self.run.root.below(folder)?));
        }
        let Some((_, folder)) = &self.folder else { return Err(io::ErrorKind::NotFound.into()) };
        let file = folder.open_file(name)?;
        let status = file.metadata()?;
        let size = status.len();
        if size > self.run.limits.max_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.content.clear();
        if size > 16 * START {
            read_to(&file, START as usize, &mut self.content)?;
            if matches!(decoded(&self.content), Cow::Borrowed(start) if is_binary(start)) {
                return Ok(None);
            }
        }
        // A file that grows while it is read ends where it did; the next search reads the rest.
        read_to(&file, size as usize, &mut self.content)?;
        let settled = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(SETTLED);
        let version = (status.ino(), status.ctime(), status.ctime_nsec(), status.len());
        Ok((status.ctime() < settled.as_secs() as i64).then_some(version))
    }

    /// Returns the text with its secrets masked; None if it has none.
    fn masked(&self, version: Option<Version>) -> Result<Option<Vec<u8>>, atlas_secrets::TooMuch> {
        let clean = || self.run.clean.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if version.is_some_and(|version| clean().contains(&version)) {
            return Ok(None);
        }
        let secrets = atlas_secrets::find(&self.content)?;
        if !secrets.is_empty() {
            return Ok(Some(atlas_secrets::mask(&self.content, &secrets).into_owned()));
        }
        if let Some(version) = version {
            let mut known = clean();
            if known.len() >= MAX_CLEAN {
                known.clear();
            }
            known.insert(version);
        }
        Ok(None)
    }
}

/// Reads on until the buffer has `size` bytes or the file ends: mostly one system call, where `read_to_end` takes several.
fn read_to(mut file: &File, size: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    let mut end = buffer.len();
    buffer.resize(size.max(end), 0);
    while end < buffer.len() {
        match file.read(&mut buffer[end..]) {
            Ok(0) => break,
            Ok(count) => end += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(end);
    Ok(())
}

struct Collector<'a> {
    run: &'a Run<'a>,
    pattern: &'a Pattern,
    lines: &'a mut FileLines,
    is_cut: bool,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.lines.count += 1;
        if self.lines.lines.len() < self.run.limits.keep {
            let number = found.line_number().unwrap_or(0);
            self.lines.lines.push((number, shown(found.bytes(), self.pattern)));
        }
        let counted = self.run.counted.fetch_add(1, Ordering::Relaxed) + 1;
        let is_late = self.lines.count.is_multiple_of(LOOK_EVERY) && Instant::now() >= self.run.end;
        self.is_cut = is_late || counted >= self.run.limits.max_lines;
        Ok(!self.is_cut)
    }
}

/// Returns a line without surrounding white space; of a long one, the part around its first match.
fn shown(line: &[u8], pattern: &Pattern) -> String {
    let trimmed = line.trim_ascii();
    if trimmed.len() <= WHOLE {
        return String::from_utf8_lossy(trimmed).into_owned();
    }
    let skipped = trimmed.as_ptr().addr() - line.as_ptr().addr();
    let at = pattern.0.find(line).ok().flatten().map_or(0, |found| found.start().saturating_sub(skipped));
    let from = boundary(trimmed, at.saturating_sub(BEFORE_MATCH).min(trimmed.len() - SHOWN));
    let to = boundary(trimmed, from + SHOWN);
    let (before, after) = (if from > 0 { "..." } else { "" }, if to < trimmed.len() { "..." } else { "" });
    format!("{before}{}{after}", String::from_utf8_lossy(&trimmed[from..to]).trim())
}

/// Returns the start of the character at a position.
fn boundary(text: &[u8], position: usize) -> usize {
    let is_inside = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (position.saturating_sub(3)..=position).rev().find(|at| !is_inside(at)).unwrap_or(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn tree(name: &str, files: &[(&str, &[u8])]) -> (PathBuf, Vec<String>) {
        let root = std::env::temp_dir().join(format!("atlas-lines-{name}-{}", std::process::id()));
        for (path, content) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), content).unwrap();
        }
        (root, files.iter().map(|(path, _)| (*path).to_owned()).collect())
    }

    fn search(root: &Path, paths: &[String], expression: &str, limits: Limits) -> Found {
        LineSearch::default().search(root, paths, &Pattern::regex(expression).unwrap(), &limits).unwrap()
    }

    #[test]
    fn lines_are_found_in_any_encoding_and_counted_beyond_those_kept() {
        let wide: Vec<u8> =
            [0xfeff_u16].into_iter().chain("one\ntwo needle\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
        let (root, paths) = tree(
            "kinds",
            &[
                ("a/x.py", b"needle\r\n\xff needle\r\nno\n  needle"),
                ("a/y.cs", &wide),
                ("b/data.bin", b"\x00\x01\x02\x03needle"),
                ("b/lfs", b"version https://git-lfs.github.com/spec/v1\nneedle"),
                ("c.txt", b"hay"),
            ],
        );
        let mut paths = paths;
        paths.extend(["gone.py".to_owned(), "../outside".to_owned()]);
        let found = search(&root, &paths, "needle$", Limits { keep: 2, ..Limits::default() });
        let first = &found.files[0];
        assert_eq!((first.path.as_str(), first.count), ("a/x.py", 3));
        assert_eq!(first.lines, [(1, "needle".to_owned()), (2, "\u{fffd} needle".to_owned())]);
        assert_eq!(found.files[1].lines, [(2, "two needle".to_owned())]);
        assert_eq!(found.skipped, [("binary", 1), ("lfs", 1), ("unreadable", 2)]);
        assert_eq!((found.files.len(), found.unread), (2, 0));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_secret_is_neither_shown_nor_matched() {
        let (root, paths) = tree("secret", &[("a.py", b"password = \"hU7!kQz92_vXe\"\n")]);
        let by_value = search(&root, &paths, "hU7!k", Limits::default());
        assert!(by_value.files.is_empty());
        let by_name = search(&root, &paths, "password", Limits::default());
        assert_eq!(by_name.files[0].lines, [(1, "password = \"*************\"".to_owned())]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_line_is_shown_whole_up_to_a_length() {
        let whole = format!("print(\"needle {}, set ALLOW\")", "x".repeat(WHOLE - 27));
        let (root, paths) = tree("whole", &[("a.py", format!("{whole}\n{whole}y\n").as_bytes())]);
        let found = search(&root, &paths, "needle", Limits::default());
        let shown: Vec<&str> = found.files[0].lines.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!((whole.len(), shown[0]), (WHOLE, whole.as_str()));
        assert!(shown[1].len() <= SHOWN + 6 && shown[1].ends_with("xxx..."), "{}", shown[1]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn limits_of_size_lines_and_time_hold() {
        let long = [b"x".repeat(1 << 20), "é needle é".into(), b"y".repeat(1 << 20)].concat();
        let (root, paths) = tree("limits", &[("long.py", &long), ("many.py", &b"needle\n".repeat(5000))]);
        let found = search(&root, &paths, "needle", Limits::default());
        let text = &found.files[0].lines[0].1;
        assert!(text.contains("é needle é") && text.starts_with("...x") && text.len() <= SHOWN + 8, "{text}");
        assert_eq!(found.files[1].count, 5000);
        let few = search(&root, &paths, "needle", Limits { max_lines: 10, ..Limits::default() });
        assert_eq!(few.files.iter().map(|file| file.count).sum::<usize>(), 10);
        assert_eq!(few.unread, 1);
        let small = search(&root, &paths, "needle", Limits { max_bytes: 1 << 20, ..Limits::default() });
        assert_eq!(small.skipped, [("too-large", 1)]);
        let late = search(&root, &paths, "needle", Limits { time: Duration::ZERO, ..Limits::default() });
        assert_eq!((late.files.len(), late.unread), (0, 2));
        fs::remove_dir_all(root).unwrap();
    }
}
