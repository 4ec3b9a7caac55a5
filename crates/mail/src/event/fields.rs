//! Header fields, taken apart without looking into their values, and where a body begins.

use super::syntax;

/// How much of a header is read. The rest is skipped, not taken for the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    fields_max: usize,
    value_bytes_max: usize,
    bytes_max: usize,
}

/// The bounds of a message's own header.
pub(super) const MESSAGE: Bounds = Bounds {
    fields_max: 1_000,
    value_bytes_max: 16 * 1024,
    bytes_max: 256 * 1024,
};

/// The bounds of a part's header, which may occur as often as parts.
pub(super) const PART: Bounds = Bounds {
    fields_max: 50,
    value_bytes_max: 4 * 1024,
    bytes_max: 16 * 1024,
};

/// A field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// The name as it is written.
    pub(super) name: String,
    /// The value in one line, not decoded.
    pub(super) value: String,
}

/// The fields of a header in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    list: Vec<Field>,
    is_cut: bool,
}

impl Fields {
    pub(super) fn new(list: Vec<Field>) -> Self {
        Self {
            list,
            is_cut: false,
        }
    }

    /// Both headers as one.
    pub(super) fn followed_by(mut self, other: Self) -> Self {
        self.list.extend(other.list);
        self.is_cut |= other.is_cut;
        self
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Field> {
        self.list.iter()
    }

    /// The value of the last field of that name, which is the one that counts where only one may be.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        let of_name = |field: &&Field| field.name.eq_ignore_ascii_case(name);
        self.iter()
            .filter(of_name)
            .last()
            .map(|field| field.value.as_str())
    }

    /// Whether there were more, or longer ones.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// The header and the body of a message or part. Without an empty line the body begins at the first line
/// that cannot be a field.
pub(super) fn split(entity: &[u8], bounds: Bounds) -> (Fields, &[u8]) {
    let mut reading = Reading::new(bounds);
    let mut rest = entity;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let (line, behind) = rest.split_at(end);
        match line.trim_ascii_end() {
            [] if !reading.continues(line) => return (reading.fields(), behind),
            _ if reading.continues(line) => reading.extend(line),
            content => match name_and_value(content) {
                Some((name, value)) => reading.begin(name, value),
                // The envelope line of mailbox files.
                None if rest.len() == entity.len() && line.starts_with(b"From ") => {}
                None => return (reading.fields(), rest),
            },
        }
        rest = behind;
    }
    (reading.fields(), rest)
}

fn name_and_value(line: &[u8]) -> Option<(&str, &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let name = line[..colon].trim_ascii_end();
    let is_name = !name.is_empty() && name.len() <= 200 && name.iter().all(u8::is_ascii_graphic);
    let name = std::str::from_utf8(name).ok().filter(|_| is_name)?;
    Some((name, line[colon + 1..].trim_ascii_start()))
}

/// A header that is being read.
struct Reading {
    bounds: Bounds,
    list: Vec<(String, Vec<u8>)>,
    bytes: usize,
    has_begun: bool,
    /// Whether the lines that follow belong to a field that is left out.
    is_skipping: bool,
    is_cut: bool,
}

impl Reading {
    fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            list: Vec::new(),
            bytes: 0,
            has_begun: false,
            is_skipping: false,
            is_cut: false,
        }
    }

    /// Whether the line goes on with the field above it. One of blanks only ends a header that has no field yet.
    fn continues(&self, line: &[u8]) -> bool {
        self.has_begun && matches!(line.first(), Some(b' ' | b'\t'))
    }

    fn begin(&mut self, name: &str, value: &[u8]) {
        self.has_begun = true;
        let is_full =
            self.list.len() >= self.bounds.fields_max || self.bytes >= self.bounds.bytes_max;
        self.is_skipping = is_full;
        self.is_cut |= is_full;
        if !is_full {
            self.bytes += name.len();
            self.list.push((name.to_owned(), Vec::new()));
            self.append(value);
        }
    }

    fn extend(&mut self, line: &[u8]) {
        let text = line.trim_ascii();
        if !self.is_skipping && !text.is_empty() {
            self.append(b" ");
            self.append(text);
        }
    }

    fn append(&mut self, text: &[u8]) {
        let Some((_, value)) = self.list.last_mut() else {
            return;
        };
        let room = self.bounds.value_bytes_max.saturating_sub(value.len());
        let room = room.min(self.bounds.bytes_max.saturating_sub(self.bytes));
        let taken = text.len().min(room);
        self.is_cut |= taken < text.len();
        value.extend_from_slice(&text[..taken]);
        self.bytes += taken;
    }

    fn fields(self) -> Fields {
        let list = self.list.into_iter().map(|(name, value)| Field {
            name,
            value: syntax::text(None, &value).replace(['\r', '\n'], " "),
        });
        Fields {
            list: list.collect(),
            is_cut: self.is_cut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(entity: &[u8]) -> (Vec<(String, String)>, &[u8]) {
        let (fields, body) = split(entity, MESSAGE);
        let list = fields
            .list
            .into_iter()
            .map(|field| (field.name, field.value));
        (list.collect(), body)
    }

    fn field(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_header_ends_at_the_empty_line() {
        for entity in [
            &b"A: 1\r\nb-C:2 \r\n\r\nbody: x\r\n"[..],
            b"A: 1\nb-C: 2\n\nbody: x\r\n",
            b"From somebody Mon Jan 1\r\nA: 1\r\nb-C : 2\r\n\r\nbody: x\r\n",
        ] {
            let wanted = vec![field("A", "1"), field("b-C", "2")];
            assert_eq!(parts(entity), (wanted, &b"body: x\r\n"[..]));
        }
    }

    #[test]
    fn folded_lines_are_one_value() {
        let (list, body) = parts(b"A: one\r\n  two\r\n\tthree\r\n \r\n four\r\n\r\nx");
        assert_eq!(list, [field("A", "one two three four")]);
        assert_eq!(body, b"x");
    }

    #[test]
    fn a_body_needs_neither_header_nor_empty_line() {
        assert_eq!(parts(b"hello\r\nworld"), (vec![], &b"hello\r\nworld"[..]));
        assert_eq!(parts(b"\r\nhello"), (vec![], &b"hello"[..]));
        assert_eq!(parts(b""), (vec![], &b""[..]));
        let wanted = vec![field("A", "1")];
        assert_eq!(parts(b"A: 1\r\nhello"), (wanted.clone(), &b"hello"[..]));
        assert_eq!(parts(b"A: 1"), (wanted, &b""[..]));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_read_as_windows_1252() {
        let (list, _) = parts(b"Subject: caf\xe9\r\nX: \xc3\xa9\r\n\r\n");
        assert_eq!(list, [field("Subject", "café"), field("X", "é")]);
    }

    #[test]
    fn more_than_the_bounds_is_left_out_and_the_body_still_found() {
        let many = "X: y\r\n".repeat(1_500) + "\r\nbody";
        let (fields, body) = split(many.as_bytes(), MESSAGE);
        assert_eq!((fields.list.len(), fields.is_cut()), (1_000, true));
        assert_eq!(body, b"body");
        let long = format!(
            "X: {}\r\n {}\r\nY: z\r\n\r\nbody",
            "a".repeat(20_000),
            "b".repeat(9)
        );
        let (fields, body) = split(long.as_bytes(), MESSAGE);
        assert_eq!(fields.last("x").map(str::len), Some(16 * 1024));
        assert_eq!(fields.last("y"), Some("z"));
        assert_eq!((fields.is_cut(), body), (true, &b"body"[..]));
    }

    #[test]
    fn of_several_fields_the_last_is_found() {
        let (fields, _) = split(b"A: 1\r\na: 2\r\nB: 3\r\n\r\n", MESSAGE);
        assert_eq!((fields.last("A"), fields.last("b")), (Some("2"), Some("3")));
        assert_eq!(fields.last("c"), None);
    }
}
