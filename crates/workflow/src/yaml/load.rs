//! Reading a document.

use std::{collections::HashMap, ops::Range};

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag, options};

use super::{
    node::{Content, Entry, Position, Yaml},
    scalar,
};

/// A file that somebody could still read.
const BYTES_MAX: usize = 4 * 1024 * 1024;
const DEPTH_MAX: usize = 100;
/// Values, those of expanded aliases included.
const VALUES_MAX: usize = 200_000;
/// Text of all values, that of expanded aliases included.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
const NOT_A_KEY: &str =
    "a list, or keys with values, cannot be a key; write a text, and `{{ }}` in quotes";

/// The text is not YAML that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {message}")]
pub struct InvalidYaml {
    /// Its place.
    pub position: Position,
    /// The fault and the way to correct it.
    pub message: String,
}

impl InvalidYaml {
    pub(crate) fn new(position: Position, message: impl Into<String>) -> Self {
        Self {
            position,
            message: message.into(),
        }
    }
}

impl From<ScanError> for InvalidYaml {
    fn from(error: ScanError) -> Self {
        let message = format!(
            "this is not YAML ({}); check quotes, colons and indentation here and on the line before",
            error.info()
        );
        Self::new(position(*error.marker()), message)
    }
}

/// The value of a text's only document; nothing, if there is none.
///
/// # Errors
/// The first fault.
pub(crate) fn load(text: &str) -> Result<Yaml, InvalidYaml> {
    if text.len() > BYTES_MAX {
        let message = format!(
            "the file has {} bytes; at most {BYTES_MAX} are read",
            text.len()
        );
        return Err(InvalidYaml::new(Position::START, message));
    }
    if let Some(line) = conflict(text) {
        let position = Position { line, column: 1 };
        let message =
            "a conflict of a merge is not resolved here; keep one side and delete the marks";
        return Err(InvalidYaml::new(position, message));
    }
    // One more than is allowed, so that the message is ours.
    let options = options! {
        emit_comments: false,
        flow_nesting_limit: DEPTH_MAX + 1,
        block_nesting_limit: DEPTH_MAX + 1,
    };
    let mut loader = Loader::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event?;
        let bytes = byte(span.start)..byte(span.end);
        loader.take(event, position(span.start), bytes)?;
    }
    Ok(loader.root.unwrap_or(Yaml {
        position: Position::START,
        bytes: 0..0,
        content: Content::Null,
    }))
}

/// The line of the first mark that an unresolved merge left, from 1.
fn conflict(text: &str) -> Option<usize> {
    let is_mark = |line: &str| {
        let mut marks = ["<<<<<<<", ">>>>>>>"].iter();
        let rest = marks.find_map(|mark| line.strip_prefix(mark));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    text.lines().position(is_mark).map(|index| index + 1)
}

fn position(marker: Marker) -> Position {
    Position {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}

/// The byte at a place; none that a text has where the parser does not know it.
fn byte(marker: Marker) -> usize {
    marker.byte_offset().unwrap_or(usize::MAX)
}

/// A value with the size of what it is made of.
#[derive(Clone)]
struct Sized {
    value: Yaml,
    values: usize,
    text_bytes: usize,
}

/// A list or map that is not complete.
struct Open {
    sized: Sized,
    anchor: usize,
    /// The key whose value comes next.
    key: Option<(String, Position)>,
    /// The places of the keys so far.
    keys: HashMap<String, Position>,
}

#[derive(Default)]
struct Loader {
    open: Vec<Open>,
    anchors: HashMap<usize, Sized>,
    root: Option<Yaml>,
    /// Values and text in memory, those of anchors and expanded aliases included.
    values: usize,
    text_bytes: usize,
}

impl Loader {
    fn take(
        &mut self,
        event: Event<'_>,
        at: Position,
        bytes: Range<usize>,
    ) -> Result<(), InvalidYaml> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document begins here; write one document into a file";
                Err(InvalidYaml::new(at, message))
            }
            Event::Scalar(text, style, anchor, tag) => {
                let content = content(&text, style, tag.as_deref(), at)?;
                let scalar = sized(content, text.len(), (at, bytes));
                self.spend(&scalar, at)?;
                self.keep(anchor, &scalar, at)?;
                self.add(scalar, at)
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), "seq", at)?;
                self.begin(Content::List(Vec::new()), anchor, (at, bytes))
            }
            Event::MappingStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), "map", at)?;
                self.begin(Content::Map(Vec::new()), anchor, (at, bytes))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(mut open) => {
                    open.sized.value.bytes.end = bytes.end;
                    self.keep(open.anchor, &open.sized, at)?;
                    self.add(open.sized, at)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let Some(named) = self.anchors.get(&anchor) else {
                    let message =
                        "this alias is within the value that it names; write the value out";
                    return Err(InvalidYaml::new(at, message));
                };
                let (values, text_bytes) = (named.values, named.text_bytes);
                self.spend_sizes(values, text_bytes, at)?;
                let copy = self.anchors[&anchor].clone();
                self.add(copy, at)
            }
            _ => Ok(()),
        }
    }

    fn begin(
        &mut self,
        content: Content,
        anchor: usize,
        (at, bytes): (Position, Range<usize>),
    ) -> Result<(), InvalidYaml> {
        if self.open.len() >= DEPTH_MAX {
            let message = format!("values are nested more than {DEPTH_MAX} deep here");
            return Err(InvalidYaml::new(at, message));
        }
        if self.open.last().is_some_and(Open::expects_key) {
            return Err(InvalidYaml::new(at, NOT_A_KEY));
        }
        let sized = sized(content, 0, (at, bytes));
        self.spend(&sized, at)?;
        self.open.push(Open {
            sized,
            anchor,
            key: None,
            keys: HashMap::new(),
        });
        Ok(())
    }

    fn keep(&mut self, anchor: usize, sized: &Sized, at: Position) -> Result<(), InvalidYaml> {
        if anchor != 0 {
            self.spend(sized, at)?;
            self.anchors.insert(anchor, sized.clone());
        }
        Ok(())
    }

    fn spend(&mut self, sized: &Sized, at: Position) -> Result<(), InvalidYaml> {
        self.spend_sizes(sized.values, sized.text_bytes, at)
    }

    fn spend_sizes(
        &mut self,
        values: usize,
        text_bytes: usize,
        at: Position,
    ) -> Result<(), InvalidYaml> {
        self.values += values;
        self.text_bytes += text_bytes;
        if self.values > VALUES_MAX || self.text_bytes > TEXT_BYTES_MAX {
            let message = "the file has too many values, or its aliases expand to too many";
            return Err(InvalidYaml::new(at, message));
        }
        Ok(())
    }

    /// Puts a complete value where it belongs.
    fn add(&mut self, added: Sized, at: Position) -> Result<(), InvalidYaml> {
        match self.open.last_mut() {
            Some(open) => open.add(added, at),
            None => {
                self.root = Some(added.value);
                Ok(())
            }
        }
    }
}

impl Open {
    fn expects_key(&self) -> bool {
        matches!(self.sized.value.content, Content::Map(_)) && self.key.is_none()
    }

    fn add(&mut self, added: Sized, at: Position) -> Result<(), InvalidYaml> {
        self.sized.values += added.values;
        self.sized.text_bytes += added.text_bytes;
        if self.expects_key() {
            return self.add_key(added.value, at);
        }
        match (&mut self.sized.value.content, self.key.take()) {
            (Content::Map(entries), Some((key, position))) => entries.push(Entry {
                key,
                position,
                value: added.value,
            }),
            (Content::List(items), _) => items.push(added.value),
            _ => {}
        }
        Ok(())
    }

    fn add_key(&mut self, key: Yaml, at: Position) -> Result<(), InvalidYaml> {
        let key = match key.content {
            Content::Text(text) => text,
            Content::Null => "null".to_owned(),
            Content::Bool(value) => value.to_string(),
            Content::Number(value) => value.to_string(),
            Content::List(_) | Content::Map(_) => return Err(InvalidYaml::new(at, NOT_A_KEY)),
        };
        if let Some(first) = self.keys.insert(key.clone(), at) {
            let message = format!("`{key}` is there already in {first}; keep one of them");
            return Err(InvalidYaml::new(at, message));
        }
        self.key = Some((key, at));
        Ok(())
    }
}

fn sized(
    content: Content,
    text_bytes: usize,
    (position, bytes): (Position, Range<usize>),
) -> Sized {
    Sized {
        value: Yaml {
            position,
            bytes,
            content,
        },
        values: 1,
        text_bytes,
    }
}

fn content(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: Position,
) -> Result<Content, InvalidYaml> {
    match tag {
        None if style == ScalarStyle::Plain => Ok(scalar::plain(text)),
        None => Ok(Content::Text(text.to_owned())),
        Some(tag) if tag.original() == "!" => Ok(Content::Text(text.to_owned())),
        Some(tag) => {
            let content = tag.core_suffix().and_then(|tag| scalar::tagged(tag, text));
            content.ok_or_else(|| unknown_tag(tag, at))
        }
    }
}

fn check_tag(tag: Option<&Tag>, wanted: &str, at: Position) -> Result<(), InvalidYaml> {
    match tag {
        Some(tag) if tag.original() != "!" && tag.core_suffix() != Some(wanted) => {
            Err(unknown_tag(tag, at))
        }
        _ => Ok(()),
    }
}

fn unknown_tag(tag: &Tag, at: Position) -> InvalidYaml {
    let message = format!(
        "the tag `{}` does not fit this value; write the value without it",
        tag.original()
    );
    InvalidYaml::new(at, message)
}
