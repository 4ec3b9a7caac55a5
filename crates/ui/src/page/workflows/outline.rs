//! A definition as a tree: which steps are in which branch of which block.

use headwater_platform::NodeOutline;

use crate::part::graph::Drawn;

/// A list of steps within a block or step.
pub(crate) struct Body<'a> {
    /// Its name; a loop's steps have none.
    pub(crate) name: Option<&'a str>,
    /// The condition under which it is taken.
    pub(crate) condition: Option<&'a str>,
    pub(crate) steps: Vec<&'a NodeOutline>,
}

/// The steps at the top: those of the workflow, and those that run after a failure.
pub(crate) fn roots(nodes: &[NodeOutline]) -> (Vec<&NodeOutline>, Vec<&NodeOutline>) {
    let roots = nodes.iter().filter(|node| node.parent.is_none());
    roots.partition(|node| node.branch.is_none())
}

/// The steps within a step or block.
pub(crate) fn bodies<'a>(nodes: &'a [NodeOutline], of: &'a NodeOutline) -> Vec<Body<'a>> {
    let within = |branch: Option<&str>| -> Vec<&'a NodeOutline> {
        let inner = nodes.iter();
        inner
            .filter(|node| {
                node.parent.as_ref() == Some(&of.path) && node.branch.as_deref() == branch
            })
            .collect()
    };
    let branches = of.branches.iter().map(|branch| Body {
        name: Some(branch.name.as_str()),
        condition: branch.condition.as_deref(),
        steps: within(Some(&branch.name)),
    });
    let of_loop = (of.kind == "loop").then(|| Body {
        name: None,
        condition: None,
        steps: within(None),
    });
    let handler = (of.on_error == "steps").then(|| Body {
        name: Some("on_error"),
        condition: None,
        steps: within(Some("on_error")),
    });
    branches.chain(of_loop).chain(handler).collect()
}

/// The steps as a drawing has them.
pub(crate) fn drawn(nodes: &[NodeOutline], steps: &[&NodeOutline]) -> Vec<Drawn> {
    let steps = steps.iter();
    steps
        .map(|node| Drawn {
            name: node.namespace.clone(),
            is_block: node.kind != "step",
            branches: bodies(nodes, node)
                .into_iter()
                .map(|body| {
                    let name = body.name.unwrap_or("each");
                    (name.to_owned(), drawn(nodes, &body.steps))
                })
                .collect(),
        })
        .collect()
}
