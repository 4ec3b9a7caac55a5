//! The operators of rules, and the names that Pipedream has for them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $takes_b:literal $(, $other:literal)*;)*) => {
        /// An operator of a rule, which compares `a` with `b` or looks at `a` alone.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Operator { $($(#[$doc])* $name,)* }

        impl Operator {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name in files and in compiled conditions.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Whether it compares with a second value.
            pub fn takes_b(self) -> bool {
                match self { $(Self::$name => $takes_b,)* }
            }
        }

        impl FromStr for Operator {
            type Err = UnknownOperator;

            fn from_str(text: &str) -> Result<Self, UnknownOperator> {
                match text {
                    $($text $(| $other)* => Ok(Self::$name),)*
                    _ => Err(UnknownOperator(text.to_owned())),
                }
            }
        }
    };
}

// The names in capitals are those of Pipedream's `filter` actions; `IN`, `AFTER`, `BEFORE` and `DATE_EQUALS` those of
// their first releases, in which `IN` looked for a text within a text and dates were compared as numbers. Of the
// editor's own names only `str/` was seen in files; the others of its form can mean nothing else.
operators! {
    /// `a` is neither null nor undefined.
    Exists, "exists", false;
    /// `a` is null or undefined.
    NotExists, "not_exists", false;
    /// The values are the same, of the same type.
    Equals, "equals", true;
    /// They are not.
    NotEquals, "not_equals", true;
    /// The texts are the same.
    TextEquals, "text_equals", true, "TEXT_EQUALS", "str=", "str==";
    /// They are not.
    TextNotEquals, "text_not_equals", true, "TEXT_NOT_EQUALS", "str!=", "str≠";
    /// `a` is nothing but space, or not there.
    TextBlank, "text_blank", false;
    /// It is not.
    TextNotBlank, "text_not_blank", false;
    /// `a` begins with `b`.
    TextStartsWith, "text_starts_with", true, "STARTS_WITH";
    /// It does not.
    TextNotStartsWith, "text_not_starts_with", true, "NOT_STARTS_WITH";
    /// `a` ends with `b`.
    TextEndsWith, "text_ends_with", true, "ENDS_WITH";
    /// It does not.
    TextNotEndsWith, "text_not_ends_with", true, "NOT_ENDS_WITH";
    /// `a` has `b` in it.
    TextContains, "text_contains", true, "CONTAINS", "IN";
    /// It has not.
    TextNotContains, "text_not_contains", true, "NOT_CONTAINS", "NOT_IN";
    /// `a` matches the regular expression `/b/`, or has the text `b` in it.
    TextMatches, "text_matches", true, "str/";
    /// It does not.
    TextNotMatches, "text_not_matches", true, "str!/";
    /// The numbers are the same.
    NumberEquals, "number_equals", true, "EQUALS", "DATE_EQUALS", "num=", "num==";
    /// They are not.
    NumberNotEquals, "number_not_equals", true, "num!=", "num≠";
    /// `a` > `b`.
    NumberGreater, "number_greater", true, "GREATER_THAN", "AFTER", "num>";
    /// `a` ≥ `b`.
    NumberGreaterOrEqual, "number_greater_or_equal", true, "GREATER_THAN_EQUALS", "num>=", "num≥";
    /// `a` < `b`.
    NumberLess, "number_less", true, "LESS_THAN", "BEFORE", "num<";
    /// `a` ≤ `b`.
    NumberLessOrEqual, "number_less_or_equal", true, "LESS_THAN_EQUALS", "num<=", "num≤";
    /// `a` is true.
    IsTrue, "is_true", false, "TRUE";
    /// `a` is false.
    IsFalse, "is_false", false, "FALSE";
    /// `a` is true or false.
    IsBoolean, "is_boolean", false;
    /// `a` is null or undefined.
    IsNull, "is_null", false, "IS_NULL";
    /// It is not.
    IsNotNull, "is_not_null", false, "NOT_NULL";
    /// `a` is text.
    IsText, "is_text", false;
    /// `a` is a number.
    IsNumber, "is_number", false;
    /// `a` is an array.
    IsArray, "is_array", false;
    /// `a` is an object.
    IsObject, "is_object", false;
    /// `a` is an item of `b`.
    In, "in", true, "IN_ARRAY";
    /// It is not.
    NotIn, "not_in", true, "NOT_IN_ARRAY";
    /// `a` is a key of `b`, with a value.
    KeyExists, "key_exists", true, "KEY_EXISTS";
    /// It is not.
    KeyNotExists, "key_not_exists", true, "KEY_NOT_EXISTS";
}

/// The text is not the name of an operator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the operator `{0}` is unknown; there are {known}", known = known())]
pub struct UnknownOperator(String);

fn known() -> String {
    let names: Vec<_> = Operator::ALL.iter().map(|known| known.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_an_unknown_one_is_refused_with_those_there_are() {
        for operator in Operator::ALL {
            assert_eq!(operator.as_str().parse(), Ok(*operator));
            let json = serde_json::to_value(operator).unwrap();
            assert_eq!(json, operator.as_str());
        }
        for (name, operator) in [
            ("str/", Operator::TextMatches),
            ("GREATER_THAN_EQUALS", Operator::NumberGreaterOrEqual),
            ("IN", Operator::TextContains),
            ("IN_ARRAY", Operator::In),
            ("in", Operator::In),
            ("TRUE", Operator::IsTrue),
        ] {
            assert_eq!(name.parse(), Ok(operator), "{name}");
        }
        let error = "str~".parse::<Operator>().unwrap_err().to_string();
        assert!(
            error.starts_with("the operator `str~` is unknown; there are exists, not_exists, ")
        );
    }
}
