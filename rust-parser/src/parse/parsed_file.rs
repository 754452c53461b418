//! Parses the content of one file, unless the content says that it must not be indexed: unknown languages, generated and minified
//! files are skipped, and secrets are masked first.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::admission::ByteLimit;
use crate::content_digest::digest_of;
use crate::facts::{FACTS_VERSION, FileFacts, Problem};
use crate::files::{Folder, read_capped};
use crate::parse::extract;
use crate::parse::registry::Registry;
use crate::scan::check_content;
use crate::secrets::{self, Secret};

/// A file of 1 MiB that a person wrote has a tenth of it; each takes some ten kilobytes until it is written.
const MAX_DEFINITIONS: usize = 20_000;

/// Secrets of one file that are told one by one.
const MAX_SECRETS: usize = 100;

/// Source that is parsed at the same time. A hostile file takes a hundred times its size while it is parsed.
const BYTES_AT_ONCE: u64 = 4 << 20;

static PARSED_AT_ONCE: ByteLimit = ByteLimit::new(BYTES_AT_ONCE);

/// Facts of one file, shared.
#[derive(Debug, Clone)]
pub struct ParsedFile {
    pub facts: Arc<FileFacts>,
    /// Why the file must not be indexed; empty when it may. No facts then.
    pub skip_reason: String,
}

impl ParsedFile {
    /// Postcard of (FACTS_VERSION, facts, skip_reason).
    pub fn encode(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(FACTS_VERSION, &*self.facts, &self.skip_reason))
    }

    /// The opposite of `encode`. Another FACTS_VERSION is an error.
    pub fn decode(data: &[u8]) -> Result<Self, postcard::Error> {
        let (version, rest) = postcard::take_from_bytes::<u32>(data)?;
        if version != FACTS_VERSION {
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        let (facts, skip_reason) = postcard::from_bytes(rest)?;
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

/// Bounds of parsing one file.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub timeout: Duration,
    /// Take generated files too; their facts say so.
    pub generated: bool,
}

/// Parse one file's content, unless the content says that it must not be indexed.
pub fn parse_content(registry: &Registry, path: &str, data: &[u8], limits: Limits) -> ParsedFile {
    let Some(language) = registry.of_file(path, data) else {
        return ParsedFile::skipped(path, data, "unknown language");
    };
    if data.len() >= u32::MAX as usize / 2 {
        return ParsedFile::skipped(path, data, "too large");
    }
    let reason = check_content(path, data);
    let is_generated = reason == "generated";
    if !(reason.is_empty() || is_generated && limits.generated) {
        return ParsedFile::skipped(path, data, reason);
    }
    let Ok(found) = secrets::find(data) else {
        return ParsedFile::skipped(path, data, "secret-scan-limit");
    };
    let mut facts = extract::extract(language, path, &secrets::mask(data, &found), limits.timeout);
    if facts.definitions.len() > MAX_DEFINITIONS {
        return ParsedFile::skipped(path, data, "too-many-definitions");
    }
    facts.is_generated = is_generated;
    if !found.is_empty() {
        // The identity of the file is that of its bytes on disk; everything else comes from the masked text.
        facts.digest = digest_of(data);
        note_secrets(&mut facts, &found);
    }
    ParsedFile { facts: Arc::new(facts), skip_reason: String::new() }
}

/// One problem a line and rule, so that status tells where secrets are masked, and whoever reads the file that they are.
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

/// Read and parse a file below a folder. Links, special files and files over the limit are refused.
pub fn parse_below(
    registry: &Registry,
    root: &Folder,
    path: &str,
    max_bytes: u64,
    limits: Limits,
) -> Result<ParsedFile, String> {
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
