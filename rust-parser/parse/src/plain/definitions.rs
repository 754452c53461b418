//! Lines that define something, in languages without a grammar: a keyword and a name, after modifiers.

/// Columns beyond which a line is no definition but part of one.
const MAX_INDENT: usize = 8;
/// Words before the keyword of a definition.
const MODIFIERS: &str = "abstract async const default data export extern external final global inline internal local method \
    mutable noinline open override pragma priv private protected pub public pure recursive rec sealed shared static \
    threadsafe unsafe virtual open";
/// Words that precede the name of a definition.
const KEYWORDS: &str = "actor algorithm architecture axiom behaviour behavior class component constant contract cte data def \
    defclass defmacro defmethod defmodule defmulti defn defn- defprotocol defrecord deftype defun defvar defpackage define \
    directive entity enum error event exception extension extend fn foreign fragment fun func function functor generator \
    impl inductive infixl infixr input instance interface iterator kernel lemma library macro message mixin mod model \
    modifier module mutation namespace newtype object oneof option output package predicate primitive proc procedure \
    process program property protocol provider query record resource role rpc rule scalar schema sequence service signal \
    signature structure struct sub subroutine subscription subtype suite task template term test theorem trait type \
    typealias typedef union unit variable view workspace";
/// Words of SQL between the statement and the kind of what it creates.
const SQL_MODIFIERS: &str = "or replace temp temporary global local unlogged unique materialized recursive external virtual \
    algorithm definer force editionable editioning public concurrently constraint foreign";
const SQL_KINDS: &str = "table view index function procedure trigger type schema sequence database policy role user domain \
    extension package synonym aggregate operator rule server publication event";

/// Returns the name that a line defines, if it looks like a definition.
pub fn definition(text: &str, indent: usize) -> Option<String> {
    if indent > MAX_INDENT
        || text.starts_with(['#', '/', '*', '}', ')', ']', '"', '\'', ',', '|']) && !text.starts_with("#define ")
    {
        return None;
    }
    let text = text.strip_prefix("--").map_or(text, |_| "");
    sql(text).or_else(|| after_keyword(text)).or_else(|| by_form(text, indent))
}

fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// Returns `table users` of `CREATE TABLE IF NOT EXISTS users (`.
fn sql(text: &str) -> Option<String> {
    let first = text.get(..6)?;
    if !["create", "alter "].iter().any(|word| first.eq_ignore_ascii_case(word)) {
        return None;
    }
    let mut words = text.split_whitespace().skip(1).map(str::to_ascii_lowercase);
    let kind = words.by_ref().find(|word| !has(SQL_MODIFIERS, word) && !word.contains('='))?;
    if !has(SQL_KINDS, kind.as_str()) {
        return None;
    }
    let is_filler = |word: &String| matches!(word.as_str(), "if" | "not" | "exists" | "only" | "body");
    let name = words.find(|word| !is_filler(word))?;
    let name = name.split('(').next()?.trim_matches(['"', '`', '[', ']', ';', '\'']);
    (!name.is_empty()).then(|| format!("{kind} {name}"))
}

/// Returns the name after a keyword: `pub fn open(...)`, `resource "aws_vpc" "main" {`, `(defn parse [x]`.
fn after_keyword(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['(', '@', '%', '-']);
    let mut words = text.split([' ', '\t', '(']).filter(|word| !word.is_empty());
    let mut keyword = words.next()?;
    let mut rest = text.split_once(keyword)?.1;
    for _ in 0..4 {
        if has(KEYWORDS, keyword) && !(has(MODIFIERS, keyword) && next_is_keyword(rest)) {
            return name_in(rest);
        }
        if !has(MODIFIERS, keyword) {
            return None;
        }
        keyword = words.next()?;
        rest = rest.split_once(keyword)?.1;
    }
    None
}

fn next_is_keyword(rest: &str) -> bool {
    rest.split([' ', '\t', '(']).find(|word| !word.is_empty()).is_some_and(|word| has(KEYWORDS, word))
}

/// Returns the first name of a text; quoted names that follow each other are joined by a dot.
fn name_in(text: &str) -> Option<String> {
    let text = text.trim_start_matches([' ', '\t', '(', '*', '&']);
    if text.starts_with('"') {
        let quoted = text.split('"').skip(1).step_by(2).take(2);
        let between_is_blank = text.split('"').nth(2).is_some_and(|between| between.trim().is_empty());
        let parts: Vec<&str> = if between_is_blank { quoted.collect() } else { quoted.take(1).collect() };
        let name = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(".");
        return (!name.is_empty()).then_some(name);
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '!' | '?' | '\'' | '$');
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['.', '-', '\'']);
    name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')).then(|| name.to_owned())
}

/// Returns the name of a definition without a keyword: `name <- function(`, `name :: Type`, `name(args) ->`,
/// `let name =`, `type name(args) {`, `name = (args) =>`.
fn by_form(text: &str, indent: usize) -> Option<String> {
    if indent > 0 && !text.ends_with('{') {
        return None;
    }
    if let Some((name, value)) = text.split_once("<-").or_else(|| text.split_once(" = "))
        && value.trim_start().starts_with("function")
    {
        return name_in(name);
    }
    if let Some((name, _)) = text.split_once(" ::")
        && !name.contains(' ')
    {
        return name_in(name);
    }
    if indent == 0
        && let Some(rest) =
            text.strip_prefix("let ").or_else(|| text.strip_prefix("val ")).or_else(|| text.strip_prefix("-module("))
    {
        return name_in(rest.strip_prefix("rec ").unwrap_or(rest));
    }
    let (head, rest) = text.split_once('(')?;
    let is_function = rest.ends_with('{') || rest.ends_with("->") || rest.ends_with("=>");
    let name = head.rsplit([' ', '\t', '*', '&']).next()?;
    let is_statement =
        has("if for while switch catch return else when case with foreach until elseif unless elsif", name)
            || has("if for while switch else return", head.split(' ').next().unwrap_or_default());
    (is_function && !is_statement && !head.contains(['=', '"', '.', ';'])).then(|| name_in(name)).flatten()
}
