//! Operations on paths of project files: folders, names and relative paths. "/"-separated, without a root.

/// Returns the folder of a path, "" for the project root.
pub fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..slash])
}

/// Returns the last component of a path.
pub fn file_name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns `folder/name`, without a slash when either is empty.
pub fn join(folder: &str, name: &str) -> String {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}

/// Resolves `written` relative to a folder, with `.` and `..` removed. Returns `None` if it leaves the project.
pub fn normalised(folder: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = match written.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the number of leading folders that two paths share.
pub fn shared_prefix(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_within_the_project() {
        assert_eq!(normalised("a/b", "./c.ts").as_deref(), Some("a/b/c.ts"));
        assert_eq!(normalised("a/b", "../c").as_deref(), Some("a/c"));
        assert_eq!(normalised("a", "/x/./y").as_deref(), Some("x/y"));
        assert_eq!(normalised("a", "../../outside"), None);
    }
}
