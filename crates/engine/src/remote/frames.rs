//! Messages as pieces of bytes: the lengths of both parts in four bytes each, the message as JSON, and bytes that do not
//! belong into JSON.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use futures::{StreamExt as _, stream::BoxStream};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use crate::api::EngineError;

const HEAD_BYTES: usize = 8;
/// The most bytes of one part: more than any run may have, and a bound for what no node of ours says.
const PART_BYTES_MAX: usize = 512 << 20;

/// A message with the bytes beside it.
///
/// # Errors
/// It has no JSON, or is too large.
pub(super) fn frame(message: &impl Serialize, beside: &[u8]) -> Result<Bytes, EngineError> {
    let mut frame = vec![0; HEAD_BYTES];
    serde_json::to_writer(&mut frame, message)
        .map_err(|error| EngineError::Protocol(error.to_string()))?;
    let json = frame.len() - HEAD_BYTES;
    frame[..4].copy_from_slice(&length(json)?);
    frame[4..HEAD_BYTES].copy_from_slice(&length(beside.len())?);
    frame.extend_from_slice(beside);
    Ok(frame.into())
}

fn length(part: usize) -> Result<[u8; 4], EngineError> {
    match u32::try_from(part) {
        Ok(length) if part <= PART_BYTES_MAX => Ok(length.to_be_bytes()),
        _ => Err(EngineError::Protocol(format!(
            "{part} bytes are too many for another node"
        ))),
    }
}

/// Reads the messages of the other side.
pub(super) struct Frames {
    pieces: BoxStream<'static, io::Result<Bytes>>,
    buffer: BytesMut,
    heard_at: Instant,
}

impl Frames {
    pub(super) fn of(pieces: BoxStream<'static, io::Result<Bytes>>) -> Self {
        Self {
            pieces,
            buffer: BytesMut::new(),
            heard_at: Instant::now(),
        }
    }

    /// The time at which the last piece came: one of a long message is no silence.
    pub(super) fn heard_at(&self) -> Instant {
        self.heard_at
    }

    /// The next message with the bytes beside it; `None` once the other side is gone. Loses nothing when it is dropped.
    ///
    /// # Errors
    /// Not a message that this side knows.
    pub(super) async fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<(M, Bytes)>> {
        loop {
            if let Some(lengths) = self.lengths()? {
                let (json, beside) = lengths;
                if self.buffer.len() >= HEAD_BYTES + json + beside {
                    self.buffer.advance(HEAD_BYTES);
                    let message = self.buffer.split_to(json);
                    let beside = self.buffer.split_to(beside).freeze();
                    return Ok(Some((serde_json::from_slice(&message)?, beside)));
                }
            }
            match self.pieces.next().await {
                Some(piece) => {
                    self.buffer.extend_from_slice(&piece?);
                    self.heard_at = Instant::now();
                }
                None => return Ok(None),
            }
        }
    }

    fn lengths(&self) -> io::Result<Option<(usize, usize)>> {
        let Some(head) = self.buffer.first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let [a, b, c, d, e, f, g, h] = *head;
        let lengths = [[a, b, c, d], [e, f, g, h]].map(|four| u32::from_be_bytes(four) as usize);
        if lengths.iter().any(|length| *length > PART_BYTES_MAX) {
            return Err(io::Error::other("a message is too long"));
        }
        Ok(Some((lengths[0], lengths[1])))
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    #[tokio::test]
    async fn messages_survive_any_cut() {
        let bytes = [frame(&"first", b"beside").unwrap(), frame(&2, b"").unwrap()].concat();
        for size in [1, 3, 7, bytes.len()] {
            let pieces: Vec<_> = bytes
                .chunks(size)
                .map(Bytes::copy_from_slice)
                .map(Ok)
                .collect();
            let mut frames = Frames::of(stream::iter(pieces).boxed());
            let (first, beside) = frames.next::<String>().await.unwrap().unwrap();
            assert_eq!((first.as_str(), &*beside), ("first", &b"beside"[..]));
            assert_eq!(
                frames.next::<u8>().await.unwrap().unwrap(),
                (2, Bytes::new())
            );
            assert!(frames.next::<u8>().await.unwrap().is_none());
        }
    }

    #[tokio::test]
    async fn an_absurd_length_is_refused_before_it_is_waited_for() {
        let pieces = stream::iter([Ok(Bytes::from_static(&[0xff; 16]))]).chain(stream::pending());
        let mut frames = Frames::of(pieces.boxed());
        assert!(frames.next::<u8>().await.is_err());
    }
}
