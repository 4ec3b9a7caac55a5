//! Values of columns, the same for every database.

/// The kind of value that a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A number, or a truth as 0 or 1.
    Integer,
    /// A number with a fraction.
    Real,
}

/// The value of a column in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// None.
    Null,
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A number, or a truth as 0 or 1.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
}

/// The cells of a row, in the order of the names of their columns.
pub type Row = Vec<Cell>;

impl Cell {
    /// About the bytes that it takes in memory.
    pub fn size(&self) -> usize {
        let beside = size_of::<Self>();
        match self {
            Self::Null | Self::Integer(_) | Self::Real(_) => beside,
            Self::Text(text) => beside + text.len(),
            Self::Bytes(bytes) => beside + bytes.len(),
        }
    }

    /// Feeds the value to a hash, apart from its neighbours.
    pub(super) fn feed(&self, mut to: impl FnMut(&[u8])) {
        let mut long = |tag: u8, bytes: &[u8]| {
            to(&[tag]);
            to(&(bytes.len() as u64).to_le_bytes());
            to(bytes);
        };
        match self {
            Self::Null => long(0, &[]),
            Self::Text(text) => long(1, text.as_bytes()),
            Self::Bytes(bytes) => long(2, bytes),
            Self::Integer(number) => long(3, &number.to_le_bytes()),
            // SQLite keeps no sign of zero.
            Self::Real(number) => long(4, &(number + 0.0).to_bits().to_le_bytes()),
        }
    }
}
