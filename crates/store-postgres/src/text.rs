//! Text with the character U+0000, which PostgreSQL refuses. It is kept as U+0001 U+0001, and U+0001 as U+0001 U+0002:
//! nothing is lost, texts stay in their order, and the beginning of a text stays one. Parameters are escaped on their
//! way to the server, and columns on their way back, so that no statement has to know.

use std::{borrow::Cow, error::Error};

use bytes::BytesMut;
use memchr::{memchr, memchr2};
use tokio_postgres::types::{FromSql, FromSqlOwned, IsNull, ToSql, Type, to_sql_checked};

const ESCAPE: u8 = 1;

pub(crate) fn escaped(text: &[u8]) -> Cow<'_, [u8]> {
    match memchr2(0, ESCAPE, text) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let escaped = text.iter().flat_map(|byte| match byte {
                0 => [Some(ESCAPE), Some(1)],
                1 => [Some(ESCAPE), Some(2)],
                _ => [Some(*byte), None],
            });
            Cow::Owned(escaped.flatten().collect())
        }
    }
}

fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    match memchr(ESCAPE, text) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let (mut bytes, mut unescaped) = (text.iter(), Vec::with_capacity(text.len()));
            while let Some(byte) = bytes.next() {
                unescaped.push(match *byte {
                    ESCAPE => bytes.next().map_or(ESCAPE, |second| second - 1),
                    byte => byte,
                });
            }
            Cow::Owned(unescaped)
        }
    }
}

/// A parameter on its way to the server.
#[derive(Debug)]
pub(crate) struct Taken<'a>(&'a (dyn ToSql + Sync));

/// Parameters that a statement takes whatever their text.
pub(crate) fn taken<'a>(params: &[&'a (dyn ToSql + Sync)]) -> Vec<Taken<'a>> {
    params.iter().map(|param| Taken(*param)).collect()
}

pub(crate) fn params<'a>(taken: &'a [Taken<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    let taken = taken.iter();
    taken.map(|taken| taken as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Taken<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let start = out.len();
        let is_null = self.0.to_sql_checked(kind, out)?;
        if let (IsNull::No, &Type::TEXT) = (&is_null, kind)
            && let Cow::Owned(escaped) = escaped(&out[start..])
        {
            out.truncate(start);
            out.extend_from_slice(&escaped);
        }
        if let (IsNull::No, &Type::TEXT_ARRAY) = (&is_null, kind) {
            let written = out.split_off(start);
            let texts = Vec::<Option<&str>>::from_sql(kind, &written)?;
            let is_taken = |text: &&str| matches!(escaped(text.as_bytes()), Cow::Borrowed(_));
            match texts.iter().flatten().all(is_taken) {
                true => out.unsplit(written),
                false => {
                    let texts = texts.iter().map(|text| text.map(Text));
                    texts.collect::<Vec<_>>().to_sql(kind, out)?;
                }
            }
        }
        Ok(is_null)
    }

    /// The parameter itself knows, and says so when it is written.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// An element of a list.
#[derive(Debug)]
struct Text<'a>(&'a str);

impl ToSql for Text<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&escaped(self.0.as_bytes()));
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TEXT
    }

    to_sql_checked!();
}

/// A column on its way from the server.
pub(crate) struct Read<T>(pub(crate) T);

impl<'a, T: FromSqlOwned> FromSql<'a> for Read<T> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        match *kind == Type::TEXT {
            true => T::from_sql(kind, &unescaped(raw)).map(Self),
            false => T::from_sql(kind, raw).map(Self),
        }
    }

    fn from_sql_null(kind: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        T::from_sql_null(kind).map(Self)
    }

    fn accepts(kind: &Type) -> bool {
        T::accepts(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_texts_stay_in_their_order() {
        let of = |text: &[u8]| escaped(text).into_owned();
        let texts: Vec<Vec<u8>> = (0..4_u8.pow(3))
            .flat_map(|number| (0..=3).map(move |len| (number, len)))
            .map(|(number, len)| (0..len).map(|place| number >> (2 * place) & 3).collect())
            .collect();
        for text in &texts {
            assert_eq!(unescaped(&of(text)), &text[..]);
            assert!(!of(text).contains(&0));
            for other in &texts {
                assert_eq!(of(text).cmp(&of(other)), text.cmp(other));
                assert_eq!(of(text).starts_with(&of(other)), text.starts_with(other));
            }
        }
    }
}
