//! Fuzz tests with mutated input for all code that reads untrusted bytes: the parser in every language, manifests, and
//! the facts cache.
//! Deterministic, with a fixed number of iterations; `ATLAS_FUZZ_ROUNDS` and `ATLAS_FUZZ_SEED` change number and seed:
//!
//!     ATLAS_FUZZ_ROUNDS=200000 ATLAS_FUZZ_SEED=$RANDOM cargo test --release --test fuzz -- --nocapture
//!
//! The corpus consists of the Markdown cases of the languages and of inputs that once caused a failure (`tests/corpus`).

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use atlas_facts::FileFacts;
use atlas_facts::cache::{CacheFile, ContentDigest};
use atlas_parse::{Limits, ParsedFile, Registry, parse_content};
use atlas_scan::manifest_name;

const ENDINGS: &[&str] = &[
    "py", "js", "ts", "tsx", "go", "rs", "java", "kt", "scala", "swift", "c", "h", "cc", "cs", "rb", "php", "sh",
    "lua", "ex", "md", "mdx",
];
const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "Cargo.toml",
    "setup.cfg",
    "setup.py",
    "package.json",
    "composer.json",
    "go.mod",
    "pom.xml",
    "a.csproj",
];
const PIECES: &[&[u8]] = &[
    b"(",
    b")",
    b"{",
    b"}",
    b"[",
    b"]",
    b"'",
    b"\"",
    b"`",
    b"```\n",
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b"\t",
    b"    ",
    b"class ",
    b"def ",
    b"=> ",
    b"#",
    b"\xc3",
    b"/*",
    b"*/",
    b"<!--",
    b"<",
    b">",
    b"\\",
    b"#if A\n",
    b"<<EOF\n",
    b"R\"(",
    b"::",
    b".",
    b"= ",
    b"a.",
    b"[a](",
    b"- ",
    b"> ",
    b"\xef\xbb\xbf",
    b"---\n",
    b"u8",
    b"?",
    b"@",
    b" do\n",
    b"end\n",
    b"$(",
    b"${",
    b"|> ",
    b"[==[",
];
const LIMITS: Limits = Limits { timeout: Duration::from_millis(500), generated: true };
/// Largest CPU time of one input: the deadline, plus the work that may follow it.
const MOST_CPU: Duration = Duration::from_secs(5);

/// The generator xorshift64*, with the same sequence on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit.max(1)
    }

    fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }
}

fn chance() -> Chance {
    let seed = std::env::var("ATLAS_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7_u64);
    Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
}

fn rounds(usual: usize) -> usize {
    std::env::var("ATLAS_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn registry() -> Registry {
    Registry::load(&[top().join("atlas/languages").to_string_lossy().into_owned()], ".knowledge", &[]).unwrap()
}

/// Returns the fenced blocks of the cases, whole documents, and the files of the corpus.
fn corpus() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for folder in ["tests/languages", "rust-parser/parse/tests/corpus"] {
        let Ok(entries) = fs::read_dir(top().join(folder)) else { continue };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file()) {
            let text = fs::read(path).unwrap();
            if path.extension().is_some_and(|ending| ending == "md") {
                let lossy = String::from_utf8_lossy(&text);
                found.extend(lossy.split("```").skip(1).step_by(2).map(|block| block.as_bytes().to_vec()));
            }
            found.push(text);
        }
    }
    assert!(found.len() > 100);
    found
}

fn mutate(chance: &mut Chance, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut data = chance.of(corpus).clone();
    data.truncate(20_000);
    for _ in 0..=chance.below(6) {
        let start = chance.below(data.len() + 1);
        let end = (start + chance.below(60)).min(data.len());
        match chance.below(6) {
            0 => drop(data.drain(start..end)),
            1 => {
                let part = data[start..end].repeat(1 + chance.below(200));
                data.splice(start..start, part).for_each(drop);
            }
            2 => {
                let most = if chance.below(20) == 0 { 5_000 } else { 3 };
                let piece = chance.of(PIECES).repeat(1 + chance.below(most));
                data.splice(start..end, piece).for_each(drop);
            }
            3 => data.iter_mut().skip(start).take(1).for_each(|byte| *byte ^= 1 << (end % 8)),
            4 => {
                let other = chance.of(corpus);
                let from = chance.below(other.len());
                let part = other[from..(from + chance.below(400)).min(other.len())].to_vec();
                data.splice(start..end, part).for_each(drop);
            }
            _ => data.truncate(end),
        }
    }
    data
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[test]
fn any_text_is_parsed_in_time_without_a_panic() {
    let (registry, corpus, mut chance) = (registry(), corpus(), chance());
    for round in 0..rounds(3_000) {
        let data = mutate(&mut chance, &corpus);
        let path = match chance.below(12) {
            0 => ".knowledge/note.md".to_owned(),
            _ => format!("pkg/file.{}", chance.of(ENDINGS)),
        };
        let before = cpu_time();
        let parsed = parse_content(&registry, &path, &data, LIMITS);
        let spent = cpu_time() - before;
        let failed = parsed.facts.problems.iter().any(|problem| problem.code == "internal");
        if failed || spent > MOST_CPU {
            let kept = std::env::temp_dir().join(format!("atlas-fuzz-{round}-{}", path.replace('/', "-")));
            fs::write(&kept, &data).unwrap();
            panic!("{}: panic {failed}, {spent:?} of CPU", kept.display());
        }
        let again = ParsedFile::decode(&parsed.encode().unwrap()).unwrap();
        assert!(again.facts == parsed.facts);
    }
}

#[test]
fn any_manifest_is_read_without_a_panic() {
    let mut corpus: Vec<Vec<u8>> = corpus();
    let names: &[&[u8]] = &[
        b"[project]\nname = \"a\"\n[tool.poetry]\nname='b'\n",
        b"{\"name\": \"a\", \"b\": [{}]}",
        b"<project><artifactId>a</artifactId></project>",
        b"<Project><PropertyGroup><AssemblyName>a</AssemblyName></PropertyGroup></Project>",
        b"setup(name='a')",
        b"module a/b // c\n",
        b"[metadata]\nname = a\n",
    ];
    corpus.extend((0..200).flat_map(|_| names.iter().map(|text| text.to_vec())));
    let mut chance = chance();
    for _ in 0..rounds(3_000) {
        let data = mutate(&mut chance, &corpus);
        MANIFESTS.iter().for_each(|file| drop(manifest_name(file, &data)));
    }
    let size = 256 << 10;
    for piece in [
        "[", "{", "a.", "[a.", "name='", "name=", "<a>", "<!--", "a=[", "a={b=", "{\"a\":", "[[a]]\n", "\"", "\n[a",
        "'''",
    ] {
        let data = piece.repeat(size / piece.len());
        for file in MANIFESTS {
            let before = cpu_time();
            for data in [data.clone(), format!("[{data}"), format!("a = {data}"), format!("{data}a]")] {
                drop(manifest_name(file, data.as_bytes()));
            }
            assert!(cpu_time() - before < MOST_CPU, "{file}: {piece} took {:?}", cpu_time() - before);
        }
    }
}

struct Filled {
    path: PathBuf,
    bytes: Vec<u8>,
    keys: Vec<(String, Option<ContentDigest>)>,
    facts: Vec<FileFacts>,
}

fn filled(folder: &Path) -> Filled {
    let (registry, path) = (registry(), folder.join("facts"));
    let blocks = corpus();
    let facts: Vec<FileFacts> = blocks
        .iter()
        .take(40)
        .enumerate()
        .map(|(number, block)| {
            let path = format!("pkg/m{number}.{}", ENDINGS[number % ENDINGS.len()]);
            (*parse_content(&registry, &path, block, LIMITS).facts).clone()
        })
        .collect();
    let keys = facts.iter().map(|facts| (facts.path.clone(), Some(facts.digest))).collect::<Vec<_>>();
    let mut cache = CacheFile::open(&path);
    cache.put(&facts.iter().map(|facts| ("", facts)).collect::<Vec<_>>());
    cache.replace(&keys[3..6].iter().map(|(path, _)| (path.clone(), None)).collect::<Vec<_>>());
    drop(cache);
    Filled { bytes: fs::read(&path).unwrap(), path, keys, facts }
}

#[test]
fn any_cache_file_is_read_without_a_panic() {
    let folder = std::env::temp_dir().join(format!("atlas-fuzz-cache-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let filled = filled(&folder);
    let mut chance = chance();
    for _ in 0..rounds(400) {
        let mut bytes = filled.bytes.clone();
        for _ in 0..=chance.below(3) {
            let at = chance.below(bytes.len());
            match chance.below(4) {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << chance.below(8),
                2 => bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0xff),
                _ => drop(bytes.splice(at..at, [0; 7])),
            }
            if bytes.is_empty() {
                break;
            }
        }
        fs::write(&filled.path, &bytes).unwrap();
        let mut cache = CacheFile::open(&filled.path);
        for (entry, facts) in cache.get(&filled.keys).into_iter().zip(&filled.facts) {
            assert!(entry.is_none_or(|entry| entry.facts == *facts));
        }
        cache.keep(&filled.keys[..chance.below(filled.keys.len())]);
        cache.put(&filled.facts.iter().map(|facts| ("", facts)).collect::<Vec<_>>());
        assert_eq!(cache.get(&filled.keys).iter().flatten().count(), filled.keys.len());
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A record with valid checksums but invalid lengths or payload must not cost more memory than the file has.
#[test]
fn lengths_that_are_claimed_cost_no_memory() {
    let folder = std::env::temp_dir().join(format!("atlas-fuzz-lengths-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let filled = filled(&folder);
    for (payload_length, path_length) in [(u32::MAX, 5), (5, u32::MAX), (u32::MAX, u32::MAX), (1 << 30, 1 << 20)] {
        let mut bytes = filled.bytes[..12].to_vec();
        bytes.extend_from_slice(&payload_length.to_le_bytes());
        bytes.extend_from_slice(&path_length.to_le_bytes());
        bytes.extend_from_slice(&[7; 400]);
        fs::write(&filled.path, &bytes).unwrap();
        // A sparse file, so that the lengths fit into it.
        fs::OpenOptions::new().write(true).open(&filled.path).unwrap().write_all_at(b"x", 9 << 30).unwrap();
        let cache = CacheFile::open(&filled.path);
        assert!(cache.get(&filled.keys).iter().all(Option::is_none));
    }
    let mut chance = chance();
    let encoded: Vec<u8> = postcard::to_stdvec(&filled.facts[0]).unwrap();
    for _ in 0..rounds(3_000) {
        let mut payload = encoded.clone();
        for _ in 0..=chance.below(4) {
            let at = chance.below(payload.len());
            let many: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x0f];
            match chance.below(3) {
                0 => payload[at] ^= 1 << chance.below(8),
                1 => payload.iter_mut().skip(at).zip(many).for_each(|(byte, other)| *byte = other),
                _ => payload.truncate(at + 1),
            }
        }
        let _ = postcard::from_bytes::<atlas_facts::FileFacts>(&payload);
    }
    fs::remove_dir_all(&folder).unwrap();
}
