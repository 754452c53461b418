//! Paths of routes, which parsing and linking compose from prefixes.

/// Joins a prefix and a path with one slash. A segment `..` removes the one before it.
pub fn join(prefix: &str, path: &str) -> String {
    let mut joined = String::with_capacity(prefix.len() + path.len() + 2);
    for part in [prefix, path] {
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        if !part.starts_with('/') && !joined.ends_with('/') {
            joined.push('/');
        }
        match joined.ends_with('/') {
            true => joined.push_str(part.trim_start_matches('/')),
            false => joined.push_str(part),
        }
    }
    while let Some(at) = joined.find("/..").filter(|&at| at > 0) {
        let before = joined[..at].rfind('/').unwrap_or(0);
        joined.replace_range(before..at + 3, "");
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_paths_are_joined_by_one_slash() {
        for (prefix, path, joined) in [
            ("", "users", "/users"),
            ("/api", "/users", "/api/users"),
            ("/api/", "/users/", "/api/users/"),
            ("api", "", "/api"),
            ("/users/:id", "../search", "/users/search"),
            ("", "/", "/"),
        ] {
            assert_eq!(join(prefix, path), joined);
        }
    }
}
