//! Text as the database takes it: without the character 0, which whatever components and receivers say may have.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type};

use crate::connection::Params;

/// U+001A, "substitute", takes its place.
const SUBSTITUTE: u8 = 0x1A;

/// A parameter whose text has no character 0.
#[derive(Debug)]
pub(crate) struct Taken<'a>(&'a (dyn ToSql + Sync));

/// Parameters that a statement takes whatever their text.
pub(crate) fn taken<'a>(params: Params<'a>) -> Vec<Taken<'a>> {
    params.iter().map(|param| Taken(*param)).collect()
}

pub(crate) fn params<'a>(taken: &'a [Taken<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    let taken = taken.iter();
    taken.map(|taken| taken as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Taken<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let start = out.len();
        let is_null = self.0.to_sql_checked(ty, out)?;
        match *ty {
            Type::TEXT => substitute(&mut out[start..]),
            Type::TEXT_ARRAY => substitute_each(&mut out[start..]),
            _ => {}
        }
        Ok(is_null)
    }

    /// What it is made of knows, and says so when it is written.
    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

fn substitute(text: &mut [u8]) {
    for byte in text.iter_mut().filter(|byte| **byte == 0) {
        *byte = SUBSTITUTE;
    }
}

/// The same in an array as the protocol has it: three numbers and two of each dimension, then the texts, each behind
/// its length.
fn substitute_each(array: &mut [u8]) {
    let number = |bytes: &[u8]| i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let Some(dimensions) = array.first_chunk::<4>().map(|bytes| number(bytes)) else {
        return;
    };
    let head = 12 + 8 * usize::try_from(dimensions).unwrap_or(0);
    let mut rest = array.get_mut(head..).unwrap_or_default();
    while let Some((length, behind)) = rest.split_at_mut_checked(4) {
        // Null has the length -1.
        let length = usize::try_from(number(length)).unwrap_or(0);
        let Some((text, next)) = behind.split_at_mut_checked(length) else {
            return;
        };
        substitute(text);
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(param: &(dyn ToSql + Sync), ty: &Type) -> BytesMut {
        let mut out = BytesMut::new();
        param.to_sql_checked(ty, &mut out).unwrap();
        out
    }

    #[test]
    fn texts_have_no_character_0_and_all_else_stays() {
        let texts = |between: char| {
            let text = format!("a{between}b");
            vec![Some(text.clone()), None, Some(text), Some(String::new())]
        };
        let (with, without) = (texts('\0'), texts('\u{1a}'));
        for count in 0..=with.len() {
            let (with, without) = (&with[..count], &without[..count]);
            let array = Type::TEXT_ARRAY;
            assert_eq!(written(&Taken(&with), &array), written(&without, &array));
        }
        assert_eq!(written(&Taken(&with[0]), &Type::TEXT)[..], *b"a\x1ab");
        assert_eq!(
            written(&Taken(&256_i64), &Type::INT8)[..],
            256_i64.to_be_bytes()
        );
        assert_eq!(written(&Taken(&&b"a\0"[..]), &Type::BYTEA)[..], *b"a\0");
    }
}
