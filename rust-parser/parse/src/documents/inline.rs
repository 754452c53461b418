//! What the running text of reStructuredText mentions: literals, roles and links.

use crate::markdown::mentions::{Mention, code_mention, link_path};

/// Roles whose text names a file or document.
const PATH_ROLES: &[&str] = &["doc", "file", "source", "download", "src", "ghfile"];
/// Roles whose text is neither a name nor a path.
const OTHER_ROLES: &[&str] = &[
    "ref",
    "term",
    "numref",
    "pep",
    "rfc",
    "abbr",
    "math",
    "eq",
    "guilabel",
    "menuselection",
    "kbd",
    "samp",
    "sub",
    "sup",
    "envvar",
    "option",
    "command",
    "program",
    "ticket",
    "issue",
    "pr",
    "user",
    "cve",
    "dfn",
    "strong",
    "emphasis",
    "index",
    "token",
    "keyword",
    "mimetype",
    "manpage",
    "regexp",
    "lookup",
    "tfilter",
    "ttag",
    "djadmin",
    "setting",
    "gh",
    "commit",
];

/// Returns the mentions of a line.
pub fn mentions(line: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        if let Some(literal) = after.strip_prefix('`') {
            let Some((content, behind)) = literal.split_once("``") else { break };
            found.extend(code_mention(content));
            rest = behind;
            continue;
        }
        let Some((content, behind)) = after.split_once('`') else { break };
        let is_link = behind.starts_with('_');
        found.extend(match role(before) {
            Some(role) => by_role(role, content),
            None if is_link => target(content).and_then(|target| link_path(target).map(Mention::Path)),
            None => code_mention(content),
        });
        rest = behind;
    }
    found
}

/// Returns a title without markup.
pub fn plain(title: &str) -> String {
    let mut plain = String::with_capacity(title.len());
    let mut parts = title.split('`');
    let mut before = parts.next().unwrap_or_default();
    for part in parts {
        plain.push_str(
            role(before).map_or(before, |role| before[..before.len() - role.len() - 1].trim_end_matches(':')),
        );
        before = part;
    }
    plain.push_str(before);
    plain.replace("**", "")
}

/// Returns the role at the end of a text: `meth` of `see :py:meth:`.
fn role(before: &str) -> Option<&str> {
    let name = before.strip_suffix(':')?;
    let start = name.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')));
    let name = &name[start.map_or(0, |start| start + name[start..].chars().next().map_or(1, char::len_utf8))..];
    name.starts_with(':').then(|| name.rsplit(':').next().unwrap_or(name)).filter(|role| !role.is_empty())
}

/// Returns the target of `text <target>`.
fn target(content: &str) -> Option<&str> {
    content.strip_suffix('>')?.rsplit_once('<').map(|(_, target)| target)
}

fn by_role(role: &str, content: &str) -> Option<Mention> {
    let target = target(content).unwrap_or(content).trim();
    if target.starts_with('!') || OTHER_ROLES.contains(&role) {
        return None;
    }
    if PATH_ROLES.contains(&role) {
        return link_path(target.trim_start_matches('/')).map(|path| match role {
            "doc" => Mention::Path(format!("{path}.rst")),
            _ => Mention::Path(path),
        });
    }
    match code_mention(target.trim_start_matches(['~', '.'])) {
        Some(Mention::Name(name)) => Some(Mention::Name(name)),
        // A dotted name with the ending of a file is a name here.
        Some(Mention::Path(path)) if !path.contains('/') => Some(Mention::Name(path)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_roles_and_links_are_mentions() {
        let name = |text: &str| Mention::Name(text.to_owned());
        let path = |text: &str| Mention::Path(text.to_owned());
        let cases = [
            ("call ``run()`` and :func:`~pkg.mod.go`", vec![name("run()"), name("pkg.mod.go")]),
            (":py:class:`the model <a.B>`, :meth:`.C.d`", vec![name("a.B"), name("C.d")]),
            ("`here <../x/y.py>`_ and :doc:`/ref/z`", vec![path("../x/y.py"), path("ref/z.rst")]),
            (":ref:`some-label` :class:`!Hidden` `open", vec![]),
        ];
        for (line, expected) in cases {
            assert_eq!(mentions(line), expected, "{line}");
        }
        assert_eq!(plain("The :class:`Model` of ``x``"), "The Model of x");
    }
}
