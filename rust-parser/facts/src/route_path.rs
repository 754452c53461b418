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

/// Returns a regular expression as a template: `^users/(?P<id>\d+)/$` is `users/{id}/`.
pub fn template_of(regex: &str) -> String {
    let text = regex.trim_start_matches('^').trim_end_matches('$').trim_end_matches("\\Z");
    let mut out = String::with_capacity(text.len());
    let mut letters = text.char_indices();
    let mut groups = 0;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, class)) if class.is_ascii_alphabetic() => out.push_str("{}"),
                Some((_, escaped)) => out.push(escaped),
                None => {}
            },
            '(' => {
                let rest = &text[at..];
                let name = rest.strip_prefix("(?P<").or_else(|| rest.strip_prefix("(?<")).and_then(|rest| {
                    rest.split_once('>').map(|(name, _)| name).filter(|name| !name.starts_with(['=', '!']))
                });
                let is_silent = rest.starts_with("(?") && name.is_none();
                let mut depth = 1;
                let mut is_escaped = false;
                for (_, inner) in letters.by_ref() {
                    match inner {
                        _ if std::mem::take(&mut is_escaped) => {}
                        '\\' => is_escaped = true,
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
                if !is_silent {
                    groups += 1;
                    let number = groups.to_string();
                    out.push('{');
                    out.push_str(name.unwrap_or(&number));
                    out.push('}');
                }
            }
            '?' | '+' | '*' | '$' | '^' => {}
            '[' => {
                letters.by_ref().find(|(_, inner)| *inner == ']');
                out.push_str("{}");
            }
            other => out.push(other),
        }
    }
    out
}

/// The mark before the part of a path that has no prefix if it concerns one element of a resource (`:id`).
pub const SHALLOW: &str = "\u{3}";

/// Returns a path without marks, and without the prefix before a mark where that does not apply.
pub fn without_shallow_prefix(path: &str) -> String {
    match path.rsplit_once(SHALLOW) {
        Some((_, rest)) if rest.split('/').any(|part| part == ":id") => join("", rest),
        Some(_) => path.replace(&format!("/{SHALLOW}"), ""),
        None => path.to_owned(),
    }
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
    fn regular_expressions_become_templates() {
        assert_eq!(template_of(r"^users/(?P<pk>\d+)/$"), "users/{pk}/");
        assert_eq!(template_of(r"^a/([0-9]+)/b\.json$"), "a/{1}/b.json");
        assert_eq!(template_of(r"^(?:v1/)?x/?$"), "x/");
        assert_eq!(template_of(r"^(?P<a>(x|\))+)$"), "{a}");
    }

    #[test]
    fn constants_are_replaced_if_something_is_known() {
        let value = |name: &str| (name == "API").then(|| "/api".to_owned());
        let text = format!("{}{}/x", marked_constant("API"), marked_constant("V1"));
        assert_eq!(with_constants(&text, value).as_deref(), Some("/api/{V1}/x"));
        assert_eq!(with_constants(&marked_constant("V1"), value), None);
        assert_eq!(with_constants("/plain", value).as_deref(), Some("/plain"));
    }

    #[test]
    fn one_element_of_a_shallow_resource_has_no_prefix() {
        assert_eq!(without_shallow_prefix("/posts/:post_id/\u{3}/comments/:id/edit"), "/comments/:id/edit");
        assert_eq!(without_shallow_prefix("/posts/:post_id/\u{3}/comments"), "/posts/:post_id/comments");
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
