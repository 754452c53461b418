//! Paths and names in routes: regular expressions as templates, methods before a path, handlers in strings.

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

/// Splits a path with methods, as in `GET /users/{id}`.
pub fn split_methods(path: &str) -> Option<(&str, &str)> {
    let (method, rest) = path.split_once(' ')?;
    let is_method = !method.is_empty() && method.chars().all(|letter| letter.is_ascii_uppercase());
    is_method.then(|| (method, rest.trim_start()))
}

/// Returns a word of Ruby's routes as the name of a controller: `admin/user_posts` is `UserPostsController`.
pub fn controller(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let mut class = String::new();
    for part in last.split('_') {
        let mut letters = part.chars();
        class.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        class.push_str(letters.as_str());
    }
    class.push_str("Controller");
    class
}

/// Returns the class and method that a string names in a notation, as `Class.method`.
pub fn named_handler(text: &str, notation: &str) -> Option<String> {
    match notation {
        "rails" => text.split_once('#').map(|(name, action)| format!("{}.{action}", controller(name))),
        "at" => {
            let class = text.rsplit('\\').next().unwrap_or(text);
            Some(match class.split_once('@') {
                Some((class, method)) => format!("{class}.{method}"),
                None => format!("{class}.__invoke"),
            })
        }
        "path" => Some(text.to_owned()),
        _ => None,
    }
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
    fn strings_name_handlers() {
        assert_eq!(named_handler("admin/user_posts#show", "rails").as_deref(), Some("UserPostsController.show"));
        assert_eq!(named_handler(r"App\Http\Users@index", "at").as_deref(), Some("Users.index"));
    }
}
