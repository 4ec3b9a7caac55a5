//! References to results that cannot be there: of steps that do not exist, come later, or are in other branches.

use headwater_javascript::scanner::{Kind, Scanner};

use crate::{
    definition::{Definition, Expression, Node, NodeKind, OnError, Scope},
    finding::{Finding, FoundAt, Severity},
    path::{ON_ERROR, Path},
};

const TRIGGER: &str = "trigger";

pub(super) fn check(definition: &Definition) -> Vec<Finding> {
    let mut findings = Vec::new();
    for expression in &definition.record.expressions {
        let visible = visible(definition, &expression.scope);
        let mut names = referenced(&expression.text);
        names.sort_unstable();
        names.dedup();
        for name in names {
            findings.extend(of_reference(definition, expression, (&name, &visible)));
        }
    }
    findings
}

fn of_reference(
    definition: &Definition,
    expression: &Expression,
    (name, visible): (&str, &[&Node]),
) -> Option<Finding> {
    if name == TRIGGER {
        return None;
    }
    let is_it = |node: &Node| node.namespace.as_str() == name;
    let reason = match visible.iter().find(|node| is_it(node)) {
        Some(node) if node.is_disabled => format!("`{name}` is disabled, and leaves no result"),
        Some(_) => return None,
        None if expression.scope == Scope::Trigger => {
            "only `steps.trigger` is there before a run begins".to_owned()
        }
        None if definition.nodes().any(is_it) => {
            format!(
                "`{name}` does not run before this, or is in a branch whose steps cannot be seen from here"
            )
        }
        None if definition.record.unread.contains(name) => return None,
        None => format!(
            "the workflow has no step `{name}`{}",
            similar(definition, name)
        ),
    };
    let place = &expression.place;
    let message = format!("`{place}`: `steps.{name}` is undefined: {reason}");
    let at = FoundAt::new(expression.position, expression.scope.path().cloned());
    Some(Finding::new(Severity::Warning, at, message))
}

fn similar(definition: &Definition, name: &str) -> String {
    let folded = |text: &str| text.to_lowercase().replace('_', "");
    let mut names = definition.nodes().map(|node| node.namespace.as_str());
    let found = names.find(|known| folded(known) == folded(name));
    found.map_or_else(String::new, |known| format!("; there is `{known}`"))
}

/// The nodes whose results an expression sees.
fn visible<'d>(definition: &'d Definition, scope: &Scope) -> Vec<&'d Node> {
    let mut visible = Vec::new();
    let Some(target) = scope.path() else {
        return visible;
    };
    let (mut base, mut nodes) = definition.sequence_at_root(target);
    loop {
        let mut inner = None;
        for node in nodes {
            let path = base.join(node.namespace.as_str());
            if target.is_within(&path) {
                inner = enter((&path, node), target, &mut visible);
                break;
            }
            visible.push(node);
        }
        match inner {
            Some(next) => (base, nodes) = next,
            None => break,
        }
    }
    if let Scope::Round(path) = scope
        && let Some(node) = definition.node(path)
        && let NodeKind::Loop(each) = &node.kind
    {
        visible.push(node);
        visible.extend(&each.steps);
    }
    visible
}

/// The list in a node that the target is in; `None` if the target is the node.
fn enter<'d>(
    (path, node): (&Path, &'d Node),
    target: &Path,
    visible: &mut Vec<&'d Node>,
) -> Option<(Path, &'d [Node])> {
    let handler = path.join(ON_ERROR);
    if let (true, OnError::Steps(steps)) = (target.is_within(&handler), &node.on_error) {
        visible.push(node);
        return Some((handler, steps));
    }
    match &node.kind {
        NodeKind::Loop(each) if target != path => {
            visible.push(node);
            return Some((path.clone(), &each.steps));
        }
        // A step that runs again sees what it exported before.
        NodeKind::Step(_) => visible.push(node),
        _ => {}
    }
    let mut branches = node.kind.branches().into_iter();
    branches.find_map(|(name, steps)| {
        let base = path.join(name);
        target.is_within(&base).then_some((base, steps))
    })
}

/// The names in `steps.name`, `steps?.name` and `steps["name"]`.
fn referenced(expression: &str) -> Vec<String> {
    let mut scanner = Scanner::new(expression);
    let mut tokens = Vec::new();
    while let Ok(Some(token)) = scanner.token() {
        tokens.push(token);
    }
    let is_object = |index: usize| {
        let is_member = index > 0 && tokens[index - 1].text == ".";
        tokens[index].text == "steps" && tokens[index].kind == Kind::Word && !is_member
    };
    let objects = (0..tokens.len()).filter(|index| is_object(*index));
    let names = objects.filter_map(|index| {
        let behind = tokens[index + 1..].iter();
        let mut behind = behind.skip_while(|token| token.text == "?");
        let (access, name) = (behind.next()?, behind.next()?);
        let (access, name) = match (access.text, name.text) {
            (".", "[") => ("[", behind.next()?),
            (access, _) => (access, name),
        };
        match (access, name.kind) {
            (".", Kind::Word) => Some(name.text.to_owned()),
            ("[", Kind::Literal) => quoted(name.text),
            _ => None,
        }
    });
    names.collect()
}

/// The text in quotes, if it is plain.
fn quoted(literal: &str) -> Option<String> {
    let inside = literal.strip_prefix(['"', '\'', '`'])?;
    let inside = inside.strip_suffix(['"', '\'', '`'])?;
    (!inside.contains(['\\', '$'])).then(|| inside.to_owned())
}

#[cfg(test)]
mod tests {
    use super::referenced;

    #[test]
    fn references_are_found_in_code_and_not_in_text() {
        for (text, names) in [
            ("steps.a.$return_value + steps.b", vec!["a", "b"]),
            ("steps?.a?.b", vec!["a"]),
            ("steps['a b'] || steps?.[\"c\"]", vec!["a b", "c"]),
            ("`${steps.a}`", vec!["a"]),
            ("'steps.a' /* steps.b */", vec![]),
            ("x.steps.a", vec![]),
            ("steps[name]", vec![]),
            ("({ steps: 1 })", vec![]),
            ("Object.keys(steps)", vec![]),
            ("steps.", vec![]),
        ] {
            assert_eq!(referenced(text), names, "{text}");
        }
    }
}
