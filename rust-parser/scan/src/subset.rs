//! The paths below the root to which a scan is limited. Works on paths only, without access to the disk.

/// The requested paths, sorted; "" (the whole tree) replaces all others.
pub struct Subset {
    paths: Vec<String>,
}

impl Subset {
    /// Parses `/`-separated paths. Drops paths that lead out of the root (`/x`, `a/../b`); ignores `.` and repeated
    /// `/`.
    pub fn new(given: &[String]) -> Self {
        let mut paths: Vec<String> = given.iter().filter_map(|path| below_root(path)).collect();
        paths.sort_unstable();
        paths.dedup();
        if paths.first().is_some_and(String::is_empty) {
            paths.truncate(1);
        }
        Self { paths }
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns whether this is one of the requested paths.
    pub fn has(&self, path: &str) -> bool {
        self.paths.binary_search_by(|given| given.as_str().cmp(path)).is_ok()
    }

    /// Returns whether something below this folder is requested.
    pub fn has_below(&self, folder: &str) -> bool {
        let start = format!("{folder}/");
        let first = self.paths.partition_point(|given| *given < start);
        self.paths.get(first).is_some_and(|given| given.starts_with(&start))
    }
}

fn below_root(path: &str) -> Option<String> {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::Subset;

    fn only(paths: &[&str]) -> Subset {
        Subset::new(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn paths_with_a_common_prefix_are_distinguished() {
        let only = only(&["a/b", "a.b/c", "a-b", "./x//y/"]);
        assert!(only.has("a/b") && only.has("a-b") && only.has("x/y") && !only.has("a") && !only.has("a/b/c"));
        assert!(only.has_below("a") && only.has_below("a.b") && only.has_below("x"));
        assert!(!only.has_below("a-b") && !only.has_below("a/b") && !only.has_below("a."));
    }

    #[test]
    fn paths_outside_the_root_are_dropped() {
        assert!(only(&["../x", "/etc", "a/../../x", ".."]).is_empty());
        assert!(only(&["a", "", "b"]).paths == [""]);
    }
}
