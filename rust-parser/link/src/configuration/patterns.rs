//! Names with one `*`, and what they stand for: `@/*` and `src/*`.

use crate::project::paths::normalised;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A path below the project's root; `*` in it is the text that `*` in the name fits.
    Path(String),
    /// Another name.
    Name(String),
}

/// A name with at most one `*`, which fits any text, and its places in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    name: String,
    pub places: Vec<Place>,
}

impl Pattern {
    /// Creates a pattern. Values that begin with `.` are paths relative to a folder, with `/` those below the root; those that leave the project or
    /// lead to installed packages are dropped.
    pub fn new(name: &str, folder: &str, values: &[String]) -> Pattern {
        let place = |value: &String| match value.starts_with(['.', '/']) {
            true => normalised(folder, value).filter(|path| !path.contains("node_modules/")).map(Place::Path),
            false => Some(Place::Name(value.clone())),
        };
        Pattern { name: name.to_owned(), places: values.iter().filter_map(place).collect() }
    }

    /// Creates a pattern whose places are names as written.
    pub fn as_written(name: &str, values: &[String]) -> Pattern {
        Pattern { name: name.to_owned(), places: values.iter().cloned().map(Place::Name).collect() }
    }

    /// Returns whether the pattern fits every name.
    pub fn is_any(&self) -> bool {
        self.name == "*"
    }

    /// Returns the text that `*` fits.
    fn rest<'n>(&self, name: &'n str) -> Option<&'n str> {
        match self.name.split_once('*') {
            Some((before, after)) => name.strip_prefix(before)?.strip_suffix(after),
            None => (self.name == name).then_some(""),
        }
    }

    /// Length of the text before `*`; a name without one comes before all others.
    fn rank(&self) -> usize {
        self.name.find('*').unwrap_or(usize::MAX)
    }
}

impl Place {
    /// Returns the place for a text in place of `*`.
    pub fn with(&self, rest: &str) -> Place {
        match self {
            Place::Path(path) => Place::Path(path.replacen('*', rest, 1)),
            Place::Name(name) => Place::Name(name.replacen('*', rest, 1)),
        }
    }
}

/// Returns the pattern that fits a name, the one with the longest text before `*` if there are several, and the text that
/// `*` fits.
pub fn best<'p, 'n>(patterns: &'p [Pattern], name: &'n str) -> Option<(&'p Pattern, &'n str)> {
    let fitting = patterns.iter().rev().filter_map(|pattern| Some((pattern, pattern.rest(name)?)));
    fitting.max_by_key(|(pattern, _)| pattern.rank())
}

/// Returns whether a path fits a pattern of a `tsconfig.json`: `*` and `?` within a part, `**` for any folders. A pattern
/// without an ending is a folder.
pub fn fits(pattern: &str, path: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let last = parts.last().copied().unwrap_or_default();
    let is_folder = last != "**" && !last.contains(['*', '?', '.']);
    let below = ["**"];
    let parts: Vec<&str> = parts.iter().copied().chain(below.into_iter().filter(|_| is_folder)).collect();
    let path: Vec<&str> = path.split('/').collect();
    // After each part of the pattern: how many parts of the path it may have taken.
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in parts {
        let mut next = vec![false; path.len() + 1];
        for at in 0..=path.len() {
            if part == "**" {
                next[at] = reached[at] || (at > 0 && next[at - 1]);
            } else if at > 0 {
                next[at] = reached[at - 1] && fits_part(part.as_bytes(), path[at - 1].as_bytes());
            }
        }
        reached = next;
    }
    reached[path.len()]
}

fn fits_part(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut read, mut star) = (0, 0, None);
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&sign) if sign == b'?' || sign == text[read] => (at, read) = (at + 1, read + 1),
            _ => match star {
                Some((before, taken)) => {
                    star = Some((before, taken + 1));
                    (at, read) = (before + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&sign| sign == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_text_before_the_star_decides() {
        let pattern = |name: &str| Pattern::new(name, "a", &["./x/*".to_owned(), "../../y".to_owned(), "n".to_owned()]);
        let all = [pattern("*"), pattern("@/*"), pattern("@/lib/*.js"), pattern("@/lib/x")];
        let found = |name: &str| best(&all, name).map(|(pattern, rest)| (pattern.name.clone(), rest.to_owned()));
        assert_eq!(found("@/lib/x"), Some(("@/lib/x".to_owned(), String::new())));
        assert_eq!(found("@/lib/b.js"), Some(("@/lib/*.js".to_owned(), "b".to_owned())));
        assert_eq!(found("@/lib/b.ts"), Some(("@/*".to_owned(), "lib/b.ts".to_owned())));
        assert_eq!(found("@"), Some(("*".to_owned(), "@".to_owned())));
        assert_eq!(all[0].places, [Place::Path("a/x/*".to_owned()), Place::Name("n".to_owned())]);
        assert_eq!(all[0].places[0].with("b/c"), Place::Path("a/x/b/c".to_owned()));
    }

    #[test]
    fn patterns_of_files_fit_paths() {
        for (pattern, path, is_fitting) in [
            ("src", "src/a/b.ts", true),
            ("src", "srcs/a.ts", false),
            ("**/*", "a.ts", true),
            ("a/**/*.test.ts", "a/b/c/d.test.ts", true),
            ("a/**/*.test.ts", "a/d.test.ts", true),
            ("a/*.ts", "a/b/c.ts", false),
            ("vite.config.ts", "vite.config.ts", true),
            ("a/?.ts", "a/bc.ts", false),
        ] {
            assert_eq!(fits(pattern, path), is_fitting, "{pattern} {path}");
        }
    }
}
