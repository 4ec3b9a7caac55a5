//! Things that a workflow's files count on and its node may lack: variables that code and expressions read, as
//! `process.env.NAME` and `process.env["NAME"]`, and a way out for mail; as far as their text shows.

use std::collections::{BTreeMap, BTreeSet};

use headwater_javascript::scanner::{Kind, Scanner, Token};

use crate::{
    definition::{Definition, NodeKind, StepCode},
    finding::FoundAt,
    path::Path,
    yaml::Position,
};

/// The beginning of the names of variables that the platform sets and nobody else may.
pub const OWN_PREFIX: &str = "PIPEDREAM_";
/// The other variables that code finds without anybody having set them. Builds write the value of `NODE_ENV` into the code.
const SET_BY_NODE: [&str; 4] = ["HOME", "NODE_ENV", "NO_COLOR", "TMPDIR"];
/// The call that sends a mail, as code writes it.
pub const SENDS_MAIL: &str = "$.send.email";
/// The endings of files with code of steps.
const CODE: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
/// The folder of tests, whose files no step imports.
const TESTS: &str = "tests/";

/// Whether code finds a variable without anybody having set it.
pub fn is_set_by_node(name: &str) -> bool {
    name.starts_with(OWN_PREFIX) || SET_BY_NODE.contains(&name)
}

/// Things that the files of a workflow count on.
#[derive(Debug, Default)]
pub struct Requirements {
    /// The variables that are read, with their first places. Those that the node sets, and those that the same code sets
    /// before, are left out.
    pub variables: BTreeMap<String, Required>,
    /// The first place that sends mail.
    pub mail: Option<Required>,
}

/// The place of something that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    /// The place in the definition: that of the step, if it is in its code.
    pub place: FoundAt,
    /// The file that it is in, if not in the definition.
    pub file: Option<String>,
}

impl Requirements {
    /// Those of a definition and the other files of its folder. Steps that are left out need nothing.
    pub fn of<'f>(
        definition: &Definition,
        files: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) -> Self {
        let mut all = Self::default();
        for expression in &definition.record.expressions {
            let path = expression.scope.path();
            if !path.is_some_and(|path| is_off(definition, path)) {
                let place = FoundAt::new(expression.position, path.cloned());
                all.add(&expression.text, &place, None);
            }
        }
        let mut of_steps = BTreeMap::new();
        for (path, node) in definition.paths() {
            let NodeKind::Step(step) = &node.kind else {
                continue;
            };
            let place = (!is_off(definition, &path)).then(|| definition.found_at(&path));
            match (&step.code, place) {
                (StepCode::File(file), place) => {
                    let known = of_steps.entry(file.as_str()).or_insert(None);
                    *known = known.take().or(place);
                }
                (StepCode::Inline(code), Some(place)) => all.add(code, &place, None),
                _ => {}
            }
        }
        for (file, text) in files {
            let is_code = CODE.iter().any(|ending| file.ends_with(ending));
            if !is_code || file.starts_with(TESTS) {
                continue;
            }
            match of_steps.get(file) {
                Some(None) => {}
                Some(Some(place)) => all.add(text, place, Some(file)),
                None => all.add(text, &FoundAt::new(Position::START, None), Some(file)),
            }
        }
        all
    }

    fn add(&mut self, code: &str, place: &FoundAt, file: Option<&str>) {
        let required = || Required {
            place: place.clone(),
            file: file.map(str::to_owned),
        };
        let seen = Seen::of(code);
        for name in seen.read {
            if !is_set_by_node(name) {
                let entry = self.variables.entry(name.to_owned());
                entry.or_insert_with(required);
            }
        }
        if seen.sends_mail {
            self.mail.get_or_insert_with(required);
        }
    }
}

/// Whether a step or block is left out, by itself or by a block around it.
fn is_off(definition: &Definition, path: &Path) -> bool {
    let mut around = Some(path.clone());
    while let Some(path) = around {
        if definition.node(&path).is_some_and(|node| node.is_disabled) {
            return true;
        }
        around = path.parent();
    }
    false
}

/// Code as far as it is about its surroundings.
#[derive(Debug, Default)]
struct Seen<'c> {
    read: BTreeSet<&'c str>,
    set: BTreeSet<&'c str>,
    sends_mail: bool,
}

impl<'c> Seen<'c> {
    /// Comments and texts are left out, as far as the code can be read: behind a mistake nothing is.
    fn of(code: &'c str) -> Self {
        let mut scanner = Scanner::new(code);
        let mut tokens = Vec::new();
        while let Ok(Some(token)) = scanner.token() {
            tokens.push(token);
        }
        let mut seen = Self::default();
        for at in 0..tokens.len() {
            seen.see(&tokens, at);
        }
        seen
    }

    fn reads(&mut self, name: &'c str) {
        if !self.set.contains(name) {
            self.read.insert(name);
        }
    }

    fn see(&mut self, tokens: &[Token<'c>], at: usize) {
        let behind = |count: usize| at.checked_sub(count).map_or("", |at| tokens[at].text);
        // Behind two dots it is the third of a spread.
        let is_member = behind(1) == "." && !matches!(behind(2), "globalThis" | "global" | ".");
        if is_member || tokens[at].kind != Kind::Word {
            return;
        }
        match tokens[at].text {
            "process" => {
                let env = member(tokens, at + 1).filter(|(name, _)| *name == "env");
                let Some((_, next)) = env else { return };
                let Some((name, next)) = member(tokens, next) else {
                    for name in taken_apart(&tokens[..at]) {
                        self.reads(name);
                    }
                    return;
                };
                let is_left = matches!(behind(1), "delete");
                match is_left || is_assigned(&tokens[next..]) {
                    true => drop(self.set.insert(name)),
                    false => self.reads(name),
                }
            }
            "$" => {
                let send = member(tokens, at + 1).filter(|(name, _)| *name == "send");
                let email = send.and_then(|(_, next)| member(tokens, next));
                self.sends_mail |= email.is_some_and(|(name, _)| name == "email");
            }
            _ => {}
        }
    }
}

/// The name of the member that is accessed there, such as `.name`, `?.name` or `["name"]`, and the number of the token behind
/// it.
fn member<'c>(tokens: &[Token<'c>], mut at: usize) -> Option<(&'c str, usize)> {
    let text = |at: usize| tokens.get(at).map_or("", |token: &Token<'c>| token.text);
    if text(at) == "?" && text(at + 1) == "." {
        at += 1;
        if text(at + 1) == "[" {
            at += 1;
        }
    }
    let name = tokens.get(at + 1)?;
    match (text(at), name.kind) {
        (".", Kind::Word) => Some((name.text, at + 2)),
        ("[", Kind::Literal) if text(at + 2) == "]" => {
            let name = name.text.strip_prefix(['"', '\'', '`'])?;
            let name = name.strip_suffix(['"', '\'', '`'])?;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            (!name.is_empty() && name.chars().all(is_plain)).then_some((name, at + 3))
        }
        _ => None,
    }
}

/// The names of a pattern such as `{ A, B: b, C = 1 } =` at the end of these tokens.
fn taken_apart<'c>(before: &[Token<'c>]) -> Vec<&'c str> {
    let [
        pattern @ ..,
        Token { text: "}", .. },
        Token { text: "=", .. },
    ] = before
    else {
        return Vec::new();
    };
    let mut depth = 0;
    let begin = pattern.iter().rposition(|token| {
        match token.text {
            "}" | "]" | ")" => depth += 1,
            "{" if depth == 0 => return true,
            "{" | "[" | "(" => depth -= 1,
            _ => {}
        }
        false
    });
    let Some(begin) = begin else {
        return Vec::new();
    };
    let (mut depth, mut names) = (0, Vec::new());
    for pair in pattern[begin..].windows(2) {
        match pair[0].text {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        let is_first = depth == 1 && matches!(pair[0].text, "{" | ",");
        if is_first && pair[1].kind == Kind::Word {
            names.push(pair[1].text);
        }
    }
    names
}

/// Whether a value is assigned to what is before these tokens, if only in place of none.
fn is_assigned(behind: &[Token<'_>]) -> bool {
    let text = |at: usize| behind.get(at).map_or("", |token| token.text);
    match [text(0), text(1), text(2)] {
        ["?", "?", "="] | ["|", "|", "="] | ["&", "&", "="] => true,
        ["=", next, _] => {
            let is_apart = behind
                .get(1)
                .is_none_or(|next| next.start > behind[0].end());
            is_apart || !matches!(next, "=" | ">")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_read() {
        let code = "process.env.A + process.env['B_2'] + process.env[`C`] + process.env?.D + process.env[name]
            process?.env?.[\"E\"] + `${process.env.F}` + globalThis.process.env.G === process.env.H == 1
            process.environment + x.process.env.I + process.env + process.env['no name']";
        let seen = Seen::of(code);
        let names: Vec<_> = seen.read.into_iter().collect();
        assert_eq!(names, ["A", "B_2", "C", "D", "E", "F", "G", "H"]);
        assert!(seen.set.is_empty() && !seen.sends_mail);
    }

    #[test]
    fn names_are_found_in_spreads_and_patterns_and_before_they_are_set() {
        let code = "f(...process.env.A, [...process.env.B]); const { C, D: d, E = { x: 1, y }, ...rest } = process.env;
            process.env.F; process.env.F = 1; const { z } = other; ({ G } = process.env)";
        let seen = Seen::of(code);
        assert_eq!(
            Vec::from_iter(seen.read),
            ["A", "B", "C", "D", "E", "F", "G"]
        );
        assert_eq!(Vec::from_iter(seen.set), ["F"]);
    }

    #[test]
    fn assignments_comments_and_texts_read_nothing() {
        let code =
            "process.env.A = 1; process.env['B'] ??= '2'; process.env.C ||= 3; delete process.env.D
            // process.env.E and $.send.email
            /* process.env.F */ 'process.env.G' + `process.env.H $.send.email()`";
        let seen = Seen::of(code);
        assert!(seen.read.is_empty(), "{seen:?}");
        assert_eq!(Vec::from_iter(seen.set), ["A", "B", "C", "D"]);
        assert!(!seen.sends_mail);
        assert!(Seen::of("await $.send.email({})").sends_mail);
    }

    const YAML: &str = "\
name: Flow
# process.env.COMMENT
triggers:
- type: http
  auth: { bearer: '{{process.env.TOKEN}}' }
steps:
- namespace: one
  notes: process.env.NOTE
  props: { a: '{{process.env.A}} process.env.TEXT', b: '{{process.env.HOME}}' }
- namespace: off
  disabled: true
  props: { a: '{{process.env.OFF}}' }
- namespace: written
  code: |
    $.send.email({ subject: process.env.SUBJECT });
- namespace: block
  type: parallel
  disabled: true
  branches:
  - name: a
    steps:
    - namespace: inner
      code: process.env.INNER
";

    #[test]
    fn files_need_what_their_running_parts_read() {
        let files = [
            ("workflow.yaml", YAML),
            (
                "one/entry.js",
                "process.env.ONE + process.env.TMPDIR + process.env.NODE_ENV + process.env.NO_COLOR",
            ),
            ("off/entry.js", "process.env.OFF_FILE"),
            (
                "lib/help.mjs",
                "process.env.TZ = 'UTC'; process.env.TZ + process.env.HELP + process.env.PIPEDREAM_TRACE_ID",
            ),
            ("tests/a.js", "process.env.TESTED"),
            ("README.md", "process.env.READ"),
        ];
        let paths = files.map(|(path, _)| path);
        let definition = Definition::read(YAML, &paths).unwrap();
        let found = Requirements::of(&definition, files);
        let told = found.variables.iter().map(|(name, of)| {
            let file = of.file.as_deref().unwrap_or_default();
            (name.as_str(), of.place.line, file)
        });
        let told: Vec<_> = told.collect();
        let expected = [
            ("A", 9, ""),
            ("HELP", 1, "lib/help.mjs"),
            ("ONE", 7, "one/entry.js"),
            ("SUBJECT", 13, ""),
            ("TOKEN", 5, ""),
        ];
        assert_eq!(told, expected);
        assert_eq!(found.mail.unwrap().place.line, 13);
    }
}
