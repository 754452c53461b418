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

/// The marks around the name of a constant of another file, whose value linking finds.
const MARKS: [char; 2] = ['\u{1}', '\u{2}'];

/// Returns the name of a constant with marks.
pub fn marked_constant(name: &str) -> String {
    format!("{}{name}{}", MARKS[0], MARKS[1])
}

/// Returns whether a text has a marked constant.
pub fn has_constant(text: &str) -> bool {
    text.contains(MARKS[0])
}

/// Replaces marked constants by their values. An unknown one becomes `{name}`; `None` if the whole text is one.
pub fn with_constants(text: &str, value_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut is_known = false;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARKS[0]) {
        let (name, after) = after.split_once(MARKS[1])?;
        out.push_str(before);
        is_known |= !before.trim_matches('/').is_empty();
        match value_of(name) {
            Some(value) => {
                out.push_str(&value);
                is_known = true;
            }
            None => {
                if !out.ends_with('/') {
                    out.push('/');
                }
                out.push_str(&format!("{{{name}}}"));
            }
        }
        rest = after;
    }
    out.push_str(rest);
    (is_known || !rest.trim_matches('/').is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_replaced_if_something_is_known() {
        let value = |name: &str| (name == "API").then(|| "/api".to_owned());
        let text = format!("{}{}/x", marked_constant("API"), marked_constant("V1"));
        assert_eq!(with_constants(&text, value).as_deref(), Some("/api/{V1}/x"));
        assert_eq!(with_constants(&marked_constant("V1"), value), None);
        assert_eq!(with_constants("/plain", value).as_deref(), Some("/plain"));
    }

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
