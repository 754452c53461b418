//! Names in examples: what a line of code calls, where the name says enough to be looked up.

use crate::markdown::mentions::Mention;

/// Largest number of names of one example.
pub const MAX_NAMES: usize = 60;
/// Length of the shortest name without an owner.
const MIN_LENGTH: usize = 6;
const MAX_LENGTH: usize = 120;

/// Returns the names that a line of code calls: dotted ones, and plain ones of at least two words.
pub fn called_names(line: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices('(') {
        let head = &line[..at];
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '$');
        let start = head.char_indices().rev().take_while(|&(_, c)| is_part(c)).last().map_or(at, |(start, _)| start);
        let name = head[start..].replace("::", ".");
        let name = name.trim_matches(['.', ':']);
        if is_telling(name) {
            found.push(Mention::Name(format!("{name}()")));
        }
    }
    found
}

/// Returns whether a name is long enough to mean one definition.
fn is_telling(name: &str) -> bool {
    let is_name = name.split('.').all(|part| part.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')));
    if !is_name || name.len() > MAX_LENGTH || name.contains(':') {
        return false;
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    let has_words = last.trim_matches('_').contains('_') || last.chars().skip(1).any(char::is_uppercase);
    name.contains('.') || (has_words && last.len() >= MIN_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<String> {
        let name = |mention| match mention {
            Mention::Name(name) | Mention::Path(name) => name,
        };
        called_names(line).into_iter().map(name).collect()
    }

    #[test]
    fn calls_with_telling_names_are_found() {
        assert_eq!(names("x = get_user_by_id(c.Bind(y), print(1))"), ["get_user_by_id()", "c.Bind()"]);
        assert_eq!(names("tokio::spawn(run()); ((1)(2)"), ["tokio.spawn()"]);
        assert_eq!(names("makeApp() if (x) while(1)"), ["makeApp()"]);
    }
}
