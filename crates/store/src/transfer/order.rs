//! The order in which tables are filled: first those whose rows others name.

use super::contract::Table;

/// The tables, each behind those that it refers to.
pub(super) fn in_order(mut tables: Vec<Table>) -> Vec<Table> {
    tables.sort_by(|one, other| one.name.cmp(&other.name));
    let mut ordered: Vec<Table> = Vec::with_capacity(tables.len());
    while !tables.is_empty() {
        let waits = |table: &Table, left: &[Table]| {
            left.iter()
                .any(|other| other.name != table.name && table.refers_to.contains(&other.name))
        };
        let next = tables.iter().position(|table| !waits(table, &tables));
        // Tables that refer to each other in a circle are filled in any order, which the database refuses.
        ordered.push(tables.remove(next.unwrap_or(0)));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_table_is_behind_those_that_it_refers_to() {
        let table = |name: &str, refers_to: &[&str]| Table {
            name: name.to_owned(),
            columns: BTreeMap::new(),
            refers_to: refers_to.iter().map(|&name| name.to_owned()).collect(),
        };
        let tables = vec![
            table("keys", &["users"]),
            table("links", &["keys", "links"]),
            table("users", &[]),
            table("apart", &[]),
        ];
        let ordered = in_order(tables);
        let names: Vec<_> = ordered.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["apart", "users", "keys", "links"]);
    }
}
