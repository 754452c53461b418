//! Names in routes: methods before a path, handlers in strings.

const METHODS: [&str; 9] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE"];

/// Returns whether a word is an HTTP method.
pub fn is_method(word: &str) -> bool {
    METHODS.contains(&word)
}

/// Splits a path with methods, as in `GET /users/{id}`.
pub fn split_methods(path: &str) -> Option<(&str, &str)> {
    let (method, rest) = path.split_once(' ')?;
    let rest = rest.trim_start();
    // a statement of SQL has spaces, too
    (is_method(method) && !rest.contains(char::is_whitespace)).then_some((method, rest))
}

/// Returns a word of Ruby's routes as the name of a controller: `admin/user_posts` is `UserPostsController`.
pub fn controller(name: &str) -> String {
    format!("{}Controller", camelized(name.rsplit('/').next().unwrap_or(name)))
}

/// Returns the name of a class for a word with underscores: `LineItem` for `line_item`.
pub fn camelized(word: &str) -> String {
    let mut class = String::new();
    for part in word.split('_') {
        let mut letters = part.chars();
        class.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        class.push_str(letters.as_str());
    }
    class
}

/// Returns the singular of a word, as Ruby's routes name the parameter of a resource.
pub fn singular(word: &str) -> String {
    let endings = [("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("uses", "us")];
    let known = endings.iter().find_map(|(plural, one)| Some(format!("{}{one}", word.strip_suffix(plural)?)));
    known.unwrap_or_else(|| match word.ends_with("ss") || word.ends_with("us") || word == "news" {
        true => word.to_owned(),
        false => word.strip_suffix('s').unwrap_or(word).to_owned(),
    })
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

/// Returns whether a text has one of the names of a rule.
pub fn has_name(names: &[String], text: &[u8]) -> bool {
    names.iter().any(|name| match name.strip_prefix('*') {
        Some(ending) => text.ends_with(ending.as_bytes()),
        None => name.as_bytes() == text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_name_handlers() {
        assert_eq!(named_handler("admin/user_posts#show", "rails").as_deref(), Some("UserPostsController.show"));
        assert_eq!(named_handler(r"App\Http\Users@index", "at").as_deref(), Some("Users.index"));
    }
}
