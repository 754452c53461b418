//! `build.sbt`, read without running it: the folders of the projects that it declares, and those that each depends on.

use rustc_hash::{FxHashMap, FxHashSet};

use super::reader::Reader;
use atlas_facts::SettingKind;

/// Folders of one project for several platforms, which lead to the folder around.
const PLATFORMS: [&str; 3] = ["jvm", "js", "native"];
/// Words that begin another statement of the build.
const STATEMENTS: [&str; 7] = ["val", "def", "import", "object", "class", "trait", "lazy"];

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    /// A text; the flag tells an interpolated one.
    Text(String, bool),
    Sign(char),
}

/// `val name = ...` or `def name(first) = ...` at the top level.
#[derive(Default)]
struct Statement {
    /// The first parameter of a function.
    parameter: Option<String>,
    value: Vec<Token>,
}

struct Build {
    statements: FxHashMap<String, Statement>,
}

/// Reads a `build.sbt`.
pub fn read(reader: &mut Reader, text: &str) {
    let tokens = tokens(text);
    let (names, build) = Build::of(&tokens);
    // What lies in no declared project belongs to one of the whole folder.
    reader.set(SettingKind::Project, ".", Vec::new());
    for name in &names {
        let Some(folder) = build.folder(name) else { continue };
        let mut folders = Vec::new();
        for other in build.dependencies(&build.statements[name].value) {
            folders.extend(build.folder(&other));
        }
        reader.set(SettingKind::Project, &folder, folders);
    }
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '$')
}

/// Returns the words, texts and signs of a program, without comments and blanks.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if let Some(long) = rest.strip_prefix("\"\"\"") {
            let end = long.find("\"\"\"").unwrap_or(long.len());
            found.push(Token::Text(long[..end].to_owned(), is_interpolated(text, rest)));
            (end + 6).min(rest.len())
        } else if sign == '"' {
            let end = end_of_text(&rest[1..]);
            found.push(Token::Text(rest[1..1 + end].to_owned(), is_interpolated(text, rest)));
            (end + 2).min(rest.len())
        } else if let Some(quoted) = rest.strip_prefix('`') {
            let end = quoted.find(['`', '\n']).unwrap_or(quoted.len());
            found.push(Token::Word(quoted[..end].to_owned()));
            (end + 2).min(rest.len())
        } else if is_word(sign) {
            let end = rest.find(|sign| !is_word(sign)).unwrap_or(rest.len());
            // the mark of an interpolated text
            if !rest[end..].starts_with('"') {
                found.push(Token::Word(rest[..end].to_owned()));
            }
            end
        } else {
            if !sign.is_whitespace() {
                found.push(Token::Sign(sign));
            }
            sign.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// Returns whether a letter stands right before the text that `rest` begins with.
fn is_interpolated(text: &str, rest: &str) -> bool {
    text[..text.len() - rest.len()].ends_with(is_word)
}

fn end_of_text(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, sign) in text.char_indices() {
        match sign {
            '"' | '\n' if !is_escaped => return at,
            _ => is_escaped = sign == '\\' && !is_escaped,
        }
    }
    text.len()
}

fn depth_of(token: &Token) -> i32 {
    match token {
        Token::Sign('(' | '{' | '[') => 1,
        Token::Sign(')' | '}' | ']') => -1,
        _ => 0,
    }
}

fn word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    }
}

fn is_sign(token: Option<&Token>, sign: char) -> bool {
    token == Some(&Token::Sign(sign))
}

impl Build {
    /// Returns the names of the values at the top level, in the order of the file, and what they and the functions stand
    /// for.
    fn of(tokens: &[Token]) -> (Vec<String>, Build) {
        let (mut names, mut build) = (Vec::new(), Build { statements: FxHashMap::default() });
        let mut depth = 0;
        let mut current: Option<String> = None;
        for (at, token) in tokens.iter().enumerate() {
            let starts = depth == 0 && word(Some(token)).is_some_and(|word| STATEMENTS.contains(&word));
            if starts {
                current = None;
                if let (Some("val" | "def"), Some(name)) = (word(Some(token)), word(tokens.get(at + 1))) {
                    let is_value = word(Some(token)) == Some("val");
                    let parameter = word(tokens.get(at + 3)).filter(|_| !is_value && is_sign(tokens.get(at + 2), '('));
                    let statement = Statement { parameter: parameter.map(str::to_owned), value: Vec::new() };
                    if build.statements.insert(name.to_owned(), statement).is_none() && is_value {
                        names.push(name.to_owned());
                    }
                    current = Some(name.to_owned());
                }
            } else if let Some(statement) = current.as_ref().and_then(|name| build.statements.get_mut(name)) {
                statement.value.push(token.clone());
            }
            depth = (depth + depth_of(token)).max(0);
        }
        for statement in build.statements.values_mut() {
            // What stands before `=`: the name, parameters and a type.
            let mut depth = 0;
            let is_equal = |token: &Token| {
                depth += depth_of(token);
                depth == 0 && *token == Token::Sign('=')
            };
            let start = statement.value.iter().position(is_equal).map_or(statement.value.len(), |at| at + 1);
            statement.value.drain(..start);
        }
        (names, build)
    }

    /// Returns the folder of the project that a name stands for.
    fn folder(&self, name: &str) -> Option<String> {
        let mut name = name;
        // `val coreJVM = core.jvm`
        for _ in 0..self.statements.len() {
            let value = &self.statements.get(name)?.value;
            match (word(value.first()), word(value.get(2))) {
                (Some(other), Some(platform)) if is_sign(value.get(1), '.') && PLATFORMS.contains(&platform) => {
                    name = other;
                }
                _ => break,
            }
        }
        let statement = self.statements.get(name).filter(|statement| statement.parameter.is_none())?;
        if let Some(folder) = folder_in(&statement.value, None) {
            return Some(folder);
        }
        let first = statement.value.iter().find_map(|token| word(Some(token)))?;
        match first {
            "project" | "projectMatrix" | "crossProject" => Some(name.to_owned()),
            // `val core = module("core")`, where `def module(name: String) = Project(name, file(name))`
            _ => {
                let at = statement.value.iter().position(|token| word(Some(token)) == Some(first))?;
                let Some(Token::Text(text, false)) = statement.value.get(at + 2) else { return None };
                let function = self.statements.get(first)?;
                let parameter = function.parameter.as_deref().filter(|_| is_sign(statement.value.get(at + 1), '('))?;
                folder_in(&function.value, Some((parameter, text)))
            }
        }
    }

    /// Returns the names of the values that a project depends on.
    fn dependencies(&self, value: &[Token]) -> Vec<String> {
        let mut found = Vec::new();
        // Of each open bracket, whether it only groups.
        let mut open: Vec<bool> = Vec::new();
        for (at, token) in value.iter().enumerate() {
            match depth_of(token) {
                1 => open.push(at == 0 || is_sign(value.get(at - 1), '(')),
                -1 => drop(open.pop()),
                _ => {}
            }
            if word(Some(token)) == Some("dependsOn") && open.iter().all(|&groups| groups) {
                let arguments = match is_sign(value.get(at + 1), '(') {
                    true => inside(&value[at + 2..]),
                    false => &value[(at + 1).min(value.len())..(at + 2).min(value.len())],
                };
                self.add_named(arguments, &mut found, &mut FxHashSet::default());
            }
        }
        found
    }

    /// Adds the projects that arguments name, also where a value holds several.
    fn add_named<'b>(&'b self, arguments: &'b [Token], found: &mut Vec<String>, seen: &mut FxHashSet<&'b str>) {
        for (at, token) in arguments.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| arguments.get(at));
            let name = match token {
                Token::Word(name) if !is_sign(before, '.') => name,
                Token::Text(name, false) => {
                    let function = at.checked_sub(2).and_then(|at| arguments.get(at));
                    if word(function) != Some("LocalProject") {
                        continue;
                    }
                    name
                }
                _ => continue,
            };
            if !seen.insert(name) {
                continue;
            }
            match self.statements.get(name) {
                Some(_) if self.folder(name).is_some() => found.push(name.clone()),
                Some(statement) if statement.parameter.is_none() => self.add_named(&statement.value, found, seen),
                _ => {}
            }
        }
    }
}

/// Returns the tokens before the bracket that closes an open one.
fn inside(tokens: &[Token]) -> &[Token] {
    let mut depth = 1;
    let closes = |token: &Token| {
        depth += depth_of(token);
        depth == 0
    };
    let end = tokens.iter().position(closes).unwrap_or(tokens.len());
    &tokens[..end]
}

/// Returns the folder that a project states: `in file("core")`, `Project("core", file("core"))`. The parameter of the
/// function around has a value.
fn folder_in(value: &[Token], argument: Option<(&str, &str)>) -> Option<String> {
    let settings = |token: &Token| matches!(word(Some(token)), Some("settings" | "dependsOn" | "aggregate"));
    // `.settings(...)` may stand before `.in(file(...))`, but its content does not count.
    let mut is_stated = false;
    let mut at = 0;
    while at < value.len() {
        if settings(&value[at]) && is_sign(value.get(at + 1), '(') {
            at += 2 + inside(&value[at + 2..]).len();
            continue;
        }
        is_stated |= matches!(word(value.get(at)), Some("in" | "Project" | "base"));
        let called = word(value.get(at)) == Some("file") && is_sign(value.get(at + 1), '(');
        if is_stated && called && is_sign(value.get(at + 3), ')') {
            let text = match (value.get(at + 2)?, argument) {
                (Token::Text(text, false), _) => text.clone(),
                (Token::Text(text, true), Some((parameter, given))) => {
                    let whole = text.replace(&format!("${{{parameter}}}"), given);
                    whole.replace(&format!("${parameter}"), given)
                }
                (Token::Word(name), Some((parameter, given))) if name == parameter => given.to_owned(),
                _ => return None,
            };
            return (!text.contains('$')).then_some(text);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    fn projects(text: &str) -> Vec<String> {
        let (manifest, problems) = read(Format::Sbt, "build.sbt", text);
        assert!(problems.is_empty());
        manifest.settings.iter().map(|one| format!("{} -> {}", one.name, one.values.join(" "))).collect()
    }

    #[test]
    fn folders_of_projects_and_what_they_depend_on() {
        let text = "ThisBuild / scalaVersion := \"3.3.1\" // lazy val no = project\n\
                    lazy val root = (project in file(\".\")).aggregate(core, app)\n\
                    lazy val core = project\n  .in(file(\"modules/core\"))\n  .settings(x := file(\"y\"), a dependsOn app)\n\
                    lazy val `my-util` = project.dependsOn(core % \"compile->compile;test->test\")\n\
                    lazy val app = Project(id = \"app\", base = file(\"application\"))\n  \
                    .dependsOn(`my-util`, LocalProject(\"core\"))\n\
                    val old = (project in file(\"o\") dependsOn core)\n";
        let expected = [
            ". -> ",
            ". -> ",
            "modules/core -> ",
            "my-util -> modules/core",
            "application -> my-util modules/core",
            "o -> modules/core",
        ];
        assert_eq!(projects(text), expected);
    }

    #[test]
    fn projects_of_several_platforms_and_of_functions() {
        let text = "lazy val core = crossProject(JSPlatform, JVMPlatform).crossType(CrossType.Pure).in(file(\"core\"))\n\
                    lazy val coreJVM = core.jvm\n\
                    def module(name: String): Project = Project(name, file(s\"modules/$name\")).settings(common)\n\
                    val all = Seq[ClasspathDep[ProjectReference]](coreJVM, api % Test)\n\
                    lazy val api = module(\"api\")\n\
                    lazy val app = module(\"app\").dependsOn(all: _*)\n\
                    lazy val web = projectMatrix.dependsOn(core)\n\
                    val common = Seq(scalacOptions += \"-x\")\nlazy val other = computed(\"x\")\n";
        let expected =
            [". -> ", "core -> ", "core -> ", "modules/api -> ", "modules/app -> core modules/api", "web -> core"];
        assert_eq!(projects(text), expected);
    }

    #[test]
    fn broken_programs_end() {
        for text in [
            "val",
            "val a = (",
            "val a = project.dependsOn",
            "def f(",
            "val a = \"",
            "/*",
            "val a = a.jvm",
            "`",
            "s\"\"\"",
        ] {
            projects(text);
        }
    }
}
