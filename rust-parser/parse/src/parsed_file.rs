//! Parses the content of one file, unless it must not be indexed: files of unknown languages and generated or minified
//! files are skipped. Secrets are masked before parsing.

use std::borrow::Cow;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::byte_limit::ByteLimit;
use crate::extract::{self, Around};
use crate::facts_check::is_in_range;
use crate::language::Language;
use crate::registry::Registry;
use atlas_facts::content_digest::digest_of;
use atlas_facts::{FACTS_VERSION, FileFacts, Manifest, Problem};
use atlas_manifests as manifests;
use atlas_scan::files::{Folder, read_capped};
use atlas_scan::{check_content, searched};
use atlas_secrets::{self as secrets, Secret};

/// Largest number of definitions of a file. Hand-written files of 1 MiB have a tenth of it; each definition takes some
/// 10 KB until it is written.
const MAX_DEFINITIONS: usize = 20_000;

/// Largest number of secrets of one file that are reported individually.
const MAX_SECRETS: usize = 100;

/// Largest number of source bytes that are parsed concurrently. A hostile file takes a hundred times its size during
/// parsing.
const BYTES_AT_ONCE: u64 = 4 << 20;

static PARSED_AT_ONCE: ByteLimit = ByteLimit::new(BYTES_AT_ONCE);

/// The facts of one file, shared between the parser, the cache and the linker.
#[derive(Debug, Clone)]
pub struct ParsedFile {
    pub facts: Arc<FileFacts>,
    /// Why the file must not be indexed; its facts are then empty. "" for an indexed file.
    pub skip_reason: String,
}

impl ParsedFile {
    /// Encodes `(FACTS_VERSION, facts, skip_reason)` in Postcard format.
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(FACTS_VERSION, &*self.facts, &self.skip_reason))
    }

    /// Decodes the output of `encode`.
    ///
    /// # Errors
    /// Malformed data, another `FACTS_VERSION`, or facts with references that are out of range.
    pub fn decode(data: &[u8]) -> Result<Self, postcard::Error> {
        let (version, rest) = postcard::take_from_bytes::<u32>(data)?;
        if version != FACTS_VERSION {
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        let (facts, skip_reason) = postcard::from_bytes(rest)?;
        if !is_in_range(&facts) {
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        Ok(ParsedFile { facts: Arc::new(facts), skip_reason })
    }

    fn skipped(path: &str, data: &[u8], reason: &str) -> Self {
        ParsedFile {
            facts: Arc::new(FileFacts {
                path: path.to_owned(),
                digest: digest_of(data),
                size: data.len().min(u32::MAX as usize) as u32,
                ..FileFacts::default()
            }),
            skip_reason: reason.to_owned(),
        }
    }
}

/// Limits for parsing one file.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub timeout: Duration,
    /// Whether to index generated files, too. Their facts are marked.
    pub generated: bool,
}

/// Parses the content of one file, unless it must not be indexed. Positions are those of the decoded text, digest and size
/// those of the bytes.
pub fn parse_content(registry: &Registry, path: &str, data: &[u8], limits: Limits) -> ParsedFile {
    let text = searched(path, data);
    if matches!(text, Cow::Borrowed(_)) {
        return parse_text(registry, path, data, limits);
    }
    let mut parsed = parse_text(registry, path, &text, limits);
    let facts = Arc::make_mut(&mut parsed.facts);
    (facts.digest, facts.size) = (digest_of(data), data.len().min(u32::MAX as usize) as u32);
    parsed
}

/// Parses UTF-8.
fn parse_text(registry: &Registry, path: &str, data: &[u8], limits: Limits) -> ParsedFile {
    let Some(language) = registry.of_file(path, data) else {
        return ParsedFile::skipped(path, data, "unknown language");
    };
    let format = manifests::format_of_file(path, data);
    if manifests::is_lock(path) {
        return parse_lock(registry, language, path, data, limits);
    }
    if data.len() >= u32::MAX as usize / 2 {
        return ParsedFile::skipped(path, data, "too large");
    }
    let reason = match check_content(path, data) {
        // A manifest says what it says, whoever wrote it.
        "generated" if format.is_some() => "",
        reason => reason,
    };
    let is_generated = reason == "generated";
    if !(reason.is_empty() || is_generated && limits.generated) {
        return ParsedFile::skipped(path, data, reason);
    }
    let Ok(found) = secrets::find(data) else {
        return ParsedFile::skipped(path, data, "secret-scan-limit");
    };
    let masked = secrets::mask(data, &found);
    let notebook = language.hooks.code(&masked);
    let code = notebook.and_then(|(name, edits)| Some((registry.get(&name)?, edits)));
    let mut facts = match code.filter(|(kernel, _)| kernel.grammar.is_some()) {
        Some((kernel, edits)) => {
            let document = Around { document: language, edits: &edits };
            extract::extract(kernel, registry.detectors(), path, &masked, limits.timeout, Some(document))
        }
        None => extract::extract(language, registry.detectors(), path, &masked, limits.timeout, None),
    };
    if let Some(format) = format {
        read_manifest(&mut facts, format, &masked);
    }
    if facts.definitions.len() > MAX_DEFINITIONS {
        return ParsedFile::skipped(path, data, "too-many-definitions");
    }
    facts.is_generated = is_generated;
    if !found.is_empty() {
        // The digest is that of the bytes on disk; everything else comes from the masked text.
        facts.digest = digest_of(data);
        note_secrets(&mut facts, &found);
    }
    ParsedFile { facts: Arc::new(facts), skip_reason: String::new() }
}

/// Parses a lock file: names and versions only. What marks other files as generated or holding secrets (checksums) is
/// what a lock file consists of; its text is neither kept nor searched.
fn parse_lock(registry: &Registry, language: &Language, path: &str, data: &[u8], limits: Limits) -> ParsedFile {
    let mut facts = extract::extract(language, registry.detectors(), path, &[], limits.timeout, None);
    facts.digest = digest_of(data);
    facts.size = data.len().min(u32::MAX as usize) as u32;
    facts.lines = data.iter().filter(|&&byte| byte == b'\n').count() as u32;
    if let Some(format) = manifests::format_of(path) {
        read_manifest(&mut facts, format, data);
    }
    ParsedFile { facts: Arc::new(facts), skip_reason: String::new() }
}

/// Adds to the facts of a file what it says as a manifest.
fn read_manifest(facts: &mut FileFacts, format: manifests::Format, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let attempt = catch_unwind(AssertUnwindSafe(|| manifests::read(format, &facts.path, &text)));
    let (manifest, mut problems) = attempt.unwrap_or_else(|_| {
        let message = "the reader of manifests failed on this file".to_owned();
        (Manifest::default(), vec![Problem { line: 1, code: "internal".to_owned(), message }])
    });
    problems.iter_mut().for_each(|problem| problem.line = problem.line.clamp(1, facts.lines.max(1)));
    facts.manifest = Some(Box::new(manifest));
    facts.problems.append(&mut problems);
    facts.problems.sort_by(|a, b| (a.line, &a.code, &a.message).cmp(&(b.line, &b.code, &b.message)));
}

/// Records one problem per line and rule, so that `status` reports masked secrets and readers of the file learn that
/// text is masked.
fn note_secrets(facts: &mut FileFacts, found: &[Secret]) {
    let mut told: Vec<(u32, &str)> = found.iter().map(|secret| (secret.line, secret.rule)).collect();
    told.dedup();
    let left = told.len().saturating_sub(MAX_SECRETS);
    for &(line, rule) in told.iter().take(MAX_SECRETS) {
        facts.problems.push(Problem { line, code: "secret".to_owned(), message: rule.to_owned() });
    }
    if left > 0 {
        let line = told[MAX_SECRETS].0;
        facts.problems.push(Problem { line, code: "secret".to_owned(), message: format!("and {left} more below") });
    }
    facts.problems.sort_by(|a, b| (a.line, &a.code, &a.message).cmp(&(b.line, &b.code, &b.message)));
}

/// Reads and parses a file below a folder. Returns a reason for links, special files and files over the size limit.
pub fn parse_below(
    registry: &Registry,
    root: &Folder,
    path: &str,
    max_bytes: u64,
    limits: Limits,
) -> Result<ParsedFile, String> {
    let max_bytes = if manifests::is_lock(path) { max_bytes.max(manifests::MAX_LOCK_BYTES) } else { max_bytes };
    let too_large = || format!("unreadable: larger than {max_bytes} bytes");
    let reason = |error: io::Error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        _ => format!("unreadable: {error}"),
    };
    let file = root.open_file(path).map_err(reason)?;
    let size = file.metadata().map_err(reason)?.len();
    if size > max_bytes {
        return Err(too_large());
    }
    let _share = PARSED_AT_ONCE.enter(size);
    let data = read_capped(file, max_bytes).map_err(reason)?;
    Ok(parse_content(registry, path, &data, limits))
}
