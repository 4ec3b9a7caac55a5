//! Nodes: the steps and blocks of a workflow, and the lists of nodes in them.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    blocks::{Call, CaseTest, Delay, End, LoopSource, Mode, Wait},
    code::StepCode,
    namespace::Namespace,
    retry::Retry,
};
use crate::template::{Condition, Operator, Template};

/// The name of the branch of an `ifelse` that is taken when no other is.
pub(super) const ELSE: &str = "else";
/// The same of a `switch`.
pub(super) const DEFAULT: &str = "default";

/// A step or block.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name, unique in the workflow.
    pub namespace: Namespace,
    /// Its kind.
    pub kind: NodeKind,
    /// `if`: it is skipped unless this holds.
    pub condition: Option<Condition>,
    /// `timeout`: the time that a step's code may take.
    pub timeout: Option<Duration>,
    /// `retry`: the policy of a step.
    pub retry: Option<Retry>,
    /// `on_error`: the consequence of its failure.
    pub on_error: OnError,
    /// `disabled`: whether it is left out.
    pub is_disabled: bool,
    /// `notes`, Markdown.
    pub notes: Option<String>,
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// Code.
    Step(Step),
    /// `ifelse`.
    IfElse(IfElse),
    /// `switch`.
    Switch(Switch),
    /// `parallel`.
    Parallel(Parallel),
    /// `loop`.
    Loop(Loop),
    /// `delay`.
    Delay(Delay),
    /// `wait`.
    Wait(Wait),
    /// `call`.
    Call(Call),
    /// `end`, and Pipedream's built-in filter: a step with `_filter` is an end whose condition is that of the filter,
    /// turned round if the filter is to continue. Its code file, which the editor wrote, is not run.
    End(End),
}

/// A step with code.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The code.
    pub code: StepCode,
    /// The props that the file names, compiled; without keys that begin with `_`, which are not props.
    pub props: Map<String, Value>,
    /// `runtime`, as the file has it.
    pub runtime: Option<String>,
    /// `_props_cursor`, which stands for props that depend on others.
    pub props_cursor: Option<String>,
}

/// `ifelse`: the first branch whose condition holds.
#[derive(Debug, Clone, PartialEq)]
pub struct IfElse {
    /// The branches; each has a condition.
    pub branches: Vec<Branch>,
    /// The steps of `else`.
    pub otherwise: Option<Vec<Node>>,
}

/// A named list of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Its name, unique in its block.
    pub name: String,
    /// Its condition; without one it is taken always.
    pub condition: Option<Condition>,
    /// Its steps.
    pub steps: Vec<Node>,
}

/// `switch`: the first case that fits a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// The value.
    pub on: Template,
    /// The cases.
    pub cases: Vec<Case>,
    /// The steps of `default`.
    pub default: Option<Vec<Node>>,
}

/// A case of a `switch`.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name, unique in its block.
    pub name: String,
    /// Its test.
    pub test: CaseTest,
    /// Its steps.
    pub steps: Vec<Node>,
}

impl Case {
    /// The test as a condition about the value of the `switch`.
    pub fn condition(&self, on: &Template) -> Condition {
        match &self.test {
            CaseTest::Equals(value) => Condition::compare(Operator::Equals, on, value),
            CaseTest::If(condition) => condition.clone(),
        }
    }
}

/// `parallel`: all branches whose condition holds, side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Parallel {
    /// The meaning of a failing branch for the others.
    pub mode: Mode,
    /// The branches. The editor's `never` is a condition that does not hold.
    pub branches: Vec<Branch>,
}

/// `loop`: the same steps for each item of an array, or as long as a condition holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// The array or the condition.
    pub source: LoopSource,
    /// `as`: a further name of the item, beside `item`.
    pub item_name: Option<String>,
    /// Items at once; 1 by default.
    pub concurrency: u32,
    /// The meaning of a failing item for the others.
    pub mode: Mode,
    /// The steps.
    pub steps: Vec<Node>,
}

/// The consequence of a failure.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum OnError {
    /// It fails what is around it.
    #[default]
    Fail,
    /// The run goes on behind it.
    Continue,
    /// These steps run, and then the run goes on behind it.
    Steps(Vec<Node>),
}

impl NodeKind {
    /// The named lists of steps of a block, `else` and `default` last. A loop's steps have no name.
    pub fn branches(&self) -> Vec<(&str, &[Node])> {
        match self {
            Self::IfElse(block) => {
                with_last(named(&block.branches), ELSE, block.otherwise.as_ref())
            }
            Self::Switch(block) => {
                let cases = block.cases.iter();
                let cases = cases.map(|case| (case.name.as_str(), case.steps.as_slice()));
                with_last(cases.collect(), DEFAULT, block.default.as_ref())
            }
            Self::Parallel(block) => named(&block.branches),
            Self::Step(_)
            | Self::Loop(_)
            | Self::Delay(_)
            | Self::Wait(_)
            | Self::Call(_)
            | Self::End(_) => Vec::new(),
        }
    }

    /// The branch of that index, or the one for when none is taken.
    pub fn taken(&self, index: Option<u32>) -> Option<(&str, &[Node])> {
        match (self, index) {
            (Self::IfElse(_) | Self::Switch(_) | Self::Parallel(_), Some(index)) => {
                self.branches().get(index as usize).copied()
            }
            (Self::IfElse(block), None) => Some((ELSE, block.otherwise.as_deref()?)),
            (Self::Switch(block), None) => Some((DEFAULT, block.default.as_deref()?)),
            _ => None,
        }
    }

    /// The word for it: `step`, or the block's type.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::IfElse(_) => "ifelse",
            Self::Switch(_) => "switch",
            Self::Parallel(_) => "parallel",
            Self::Loop(_) => "loop",
            Self::Delay(_) => "delay",
            Self::Wait(_) => "wait",
            Self::Call(_) => "call",
            Self::End(_) => "end",
        }
    }
}

fn named(branches: &[Branch]) -> Vec<(&str, &[Node])> {
    let branches = branches.iter();
    let branches = branches.map(|branch| (branch.name.as_str(), branch.steps.as_slice()));
    branches.collect()
}

fn with_last<'a>(
    mut branches: Vec<(&'a str, &'a [Node])>,
    name: &'a str,
    last: Option<&'a Vec<Node>>,
) -> Vec<(&'a str, &'a [Node])> {
    branches.extend(last.map(|steps| (name, steps.as_slice())));
    branches
}
