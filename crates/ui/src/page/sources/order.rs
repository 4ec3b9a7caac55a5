//! The order of the list of sources: the parameter `sort` of its address, and the heads of columns that lead to it.

use headwater_platform::{PlatformError, SourceKey, SourceOrder};
use maud::{Markup, html};

use crate::{query::read, visit::Visit};

/// The parameter.
const SORT: &str = "sort";

const KEYS: [(&str, SourceKey); 3] = [
    ("name", SourceKey::Name),
    ("last_event", SourceKey::LastEvent),
    ("created", SourceKey::Created),
];

/// The form of an order, for those whose text is none.
const EXPECTED: &str = "an order of sources: write `name`, `last_event` or `created`, or one of them behind a `-` for the opposite direction";

/// The order that the address asks for.
///
/// # Errors
/// `Invalid` for one that there is not.
pub(super) fn wanted(visit: &Visit) -> Result<SourceOrder, PlatformError> {
    let text = visit.parameter(SORT).unwrap_or_default();
    Ok(read((SORT, &text), EXPECTED, parse)?.unwrap_or_default())
}

fn parse(text: &str) -> Option<SourceOrder> {
    let key = text.strip_prefix('-');
    let (_, by) = KEYS.iter().find(|(name, _)| *name == key.unwrap_or(text))?;
    Some(SourceOrder {
        by: *by,
        is_descending: key.is_some(),
    })
}

/// The value of the parameter; none for the order that lists have without it.
fn value(order: SourceOrder) -> Option<String> {
    let named = KEYS.iter().find(|(_, by)| *by == order.by);
    let (name, _) = named.filter(|_| order != SourceOrder::default())?;
    let direction = if order.is_descending { "-" } else { "" };
    Some(format!("{direction}{name}"))
}

/// The field that keeps the order when a form filters the list.
pub(super) fn field(order: SourceOrder) -> Markup {
    html! { @if let Some(value) = value(order) { input type="hidden" name=(SORT) value=(value); } }
}

/// The order that the head of a column leads to: the opposite of its own, or the usual one of its key.
fn next(order: SourceOrder, by: SourceKey) -> SourceOrder {
    let is_descending = match by {
        _ if order.by == by => !order.is_descending,
        SourceKey::LastEvent => true,
        SourceKey::Name | SourceKey::Created => false,
    };
    SourceOrder { by, is_descending }
}

/// The head of a column by which the list can be ordered.
pub(super) fn head(visit: &Visit, order: SourceOrder, by: SourceKey, label: &str) -> Markup {
    let direction = match order.is_descending {
        true => "descending",
        false => "ascending",
    };
    let href = visit.with(&[(SORT, value(next(order, by)).as_deref())]);
    html! {
        th class=[(by == SourceKey::Created).then_some("spare")] scope="col" aria-sort=[(order.by == by).then_some(direction)] { a.sort href=(href) { (label) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_are_written() {
        for (_, by) in KEYS {
            for is_descending in [false, true] {
                let order = SourceOrder { by, is_descending };
                let read = value(order).map(|text| parse(&text).expect("it is one"));
                assert_eq!(read.unwrap_or_default(), order);
            }
        }
        for text in ["", "-", "--name", "Name", "name,created", "id"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_head_turns_its_own_order_around() {
        let order = SourceOrder::default();
        let names = next(order, SourceKey::Name);
        assert_eq!(value(names).as_deref(), Some("name"));
        assert_eq!(
            value(next(names, SourceKey::Name)).as_deref(),
            Some("-name")
        );
        let newest = next(names, SourceKey::LastEvent);
        assert_eq!(value(newest).as_deref(), Some("-last_event"));
        assert_eq!(value(next(newest, SourceKey::Created)), None);
    }
}
