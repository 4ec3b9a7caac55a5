//! Templates and conditions: values of a workflow that are known when a run comes to them.
//!
//! Responsible for their compiled form, which the worker evaluates, and for reading them from a file's values. Not
//! responsible for JavaScript: an expression is text here.

mod compiled;
mod condition;
mod operator;
mod rules;

pub(crate) use self::condition::single_expression;
pub use self::{
    compiled::{Template, compiled_literal, compiled_source, has_literals},
    condition::{Condition, InvalidCondition},
    operator::Operator,
};
