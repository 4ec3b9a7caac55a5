//! Cutting a worker's output into frames and noise, and making frames for it.
//!
//! Not responsible for the contents of frames. Frames of the host are a 4-byte big-endian length and JSON;
//! those of a worker start with the session's token, so that other output of a component on
//! standard output can neither be taken for a frame nor hide one.

use std::io;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::api::EngineError;

const TOKEN_BYTES: usize = 16;
const LENGTH_BYTES: usize = 4;
const HEADER_BYTES: usize = TOKEN_BYTES + LENGTH_BYTES;
/// The most bytes of one read, and the size of an empty buffer.
const READ_BYTES: usize = 64 * 1024;
/// The kept beginning of a frame that is too large, which has its kind and run.
const BEGINNING_BYTES: usize = 96;

/// The secret that starts every frame of a worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionToken([u8; TOKEN_BYTES]);

impl SessionToken {
    /// A fresh one.
    ///
    /// # Errors
    /// The system has no randomness to give.
    pub(crate) fn random() -> Result<Self, EngineError> {
        let mut token = [0; TOKEN_BYTES];
        getrandom::fill(&mut token)
            .map_err(|error| EngineError::Spawn(format!("no randomness: {error}")))?;
        Ok(Self(token))
    }

    /// The token as `hello` gives it.
    pub(crate) fn to_hex(self) -> String {
        hex::encode(self.0)
    }
}

/// Appends a frame for a worker to `buffer`, which is left as it was on an error.
///
/// # Errors
/// The frame cannot be made JSON, or is too long for its length field.
pub(crate) fn append_frame(
    buffer: &mut Vec<u8>,
    frame: &impl Serialize,
) -> Result<(), EngineError> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; LENGTH_BYTES]);
    let written = serde_json::to_writer(&mut *buffer, frame).map_err(|error| error.to_string());
    let body = buffer.len() - start - LENGTH_BYTES;
    match written.and_then(|()| u32::try_from(body).map_err(|error| error.to_string())) {
        Ok(length) => {
            buffer[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        Err(reason) => {
            buffer.truncate(start);
            Err(EngineError::Protocol(format!(
                "a frame cannot be sent: {reason}"
            )))
        }
    }
}

/// A part of a worker's output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// The JSON of a frame.
    Frame(&'a [u8]),
    /// Bytes that belong to no frame.
    Noise(&'a [u8]),
    /// The beginning of a frame over the limit. Nothing after it can be read.
    TooLarge(&'a [u8]),
}

/// Reads a worker's output.
#[derive(Debug)]
pub(crate) struct FrameReader {
    token: [u8; TOKEN_BYTES],
    max_frame_bytes: usize,
    buffer: Vec<u8>,
    start: usize,
}

impl FrameReader {
    pub(crate) fn new(token: SessionToken, max_frame_bytes: usize) -> Self {
        Self {
            token: token.0,
            max_frame_bytes,
            buffer: Vec::with_capacity(READ_BYTES),
            start: 0,
        }
    }

    /// Waits for more output; false at its end. Pieces have to be taken first: [`Self::next`].
    pub(crate) async fn fill(&mut self, source: &mut (impl AsyncRead + Unpin)) -> io::Result<bool> {
        self.make_room();
        Ok(source.read_buf(&mut self.buffer).await? > 0)
    }

    /// The next piece, or `None` until more output has come.
    pub(crate) fn next(&mut self) -> Option<Piece<'_>> {
        let rest = &self.buffer[self.start..];
        if rest.is_empty() {
            return None;
        }
        if rest.len() >= TOKEN_BYTES && rest.starts_with(&self.token) {
            return self.next_frame();
        }
        let end = self.start + self.noise_before_token(rest);
        let noise = &self.buffer[self.start..end];
        self.start = end;
        (!noise.is_empty()).then_some(Piece::Noise(noise))
    }

    fn next_frame(&mut self) -> Option<Piece<'_>> {
        let rest = &self.buffer[self.start..];
        let length = rest.get(TOKEN_BYTES..HEADER_BYTES)?;
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        let from = self.start + HEADER_BYTES;
        if length > self.max_frame_bytes {
            let beginning = self.buffer.get(from..from + BEGINNING_BYTES.min(length))?;
            return Some(Piece::TooLarge(beginning));
        }
        let body = self.buffer.get(from..from + length)?;
        self.start = from + length;
        Some(Piece::Frame(body))
    }

    /// The number of bytes of `rest` that cannot be the beginning of a token.
    fn noise_before_token(&self, rest: &[u8]) -> usize {
        let mut at = 0;
        while let Some(found) = rest[at..].iter().position(|&byte| byte == self.token[0]) {
            at += found;
            let candidate = &rest[at..rest.len().min(at + TOKEN_BYTES)];
            if self.token.starts_with(candidate) {
                return at;
            }
            at += 1;
        }
        rest.len()
    }

    fn make_room(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            // One large frame must not cost its memory for the rest of the worker's life.
            self.buffer.shrink_to(READ_BYTES);
        } else if self.start > 0 && self.buffer.capacity() - self.buffer.len() < READ_BYTES {
            self.buffer.drain(..self.start);
        } else {
            self.buffer.reserve(READ_BYTES);
            return;
        }
        self.start = 0;
        if self.buffer.capacity() - self.buffer.len() < READ_BYTES / 4 {
            self.buffer.reserve(READ_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FrameReader, Piece, SessionToken, TOKEN_BYTES, append_frame};

    const TOKEN: [u8; TOKEN_BYTES] = *b"aab-aab-aab-aaba";

    fn frame(body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&TOKEN[..], &length, body].concat()
    }

    /// Frames and, joined, the noise, of output that comes in these chunks.
    fn pieces(chunks: &[&[u8]], max: usize) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut reader = FrameReader::new(SessionToken(TOKEN), max);
        let (mut frames, mut noise) = (Vec::new(), Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for mut chunk in chunks.iter().copied() {
            while !chunk.is_empty() {
                runtime.block_on(reader.fill(&mut chunk)).unwrap();
                while let Some(piece) = reader.next() {
                    match piece {
                        Piece::Frame(body) => frames.push(body.to_vec()),
                        Piece::Noise(bytes) => noise.extend_from_slice(bytes),
                        Piece::TooLarge(_) => panic!("within the limit"),
                    }
                }
            }
        }
        (frames, noise)
    }

    #[test]
    fn noise_does_not_hide_frames() {
        let output = [
            b"hi".to_vec(),
            frame(b"{}"),
            b"aab-aa".to_vec(),
            frame(b"[1]"),
            b"x".to_vec(),
        ];
        let (frames, noise) = pieces(&[&output.concat()], 100);
        assert_eq!(frames, [b"{}".to_vec(), b"[1]".to_vec()]);
        assert_eq!(noise, b"hiaab-aax");
    }

    #[test]
    fn a_frame_over_the_limit_shows_its_beginning() {
        let mut reader = FrameReader::new(SessionToken(TOKEN), 200);
        let output = frame(&[b'x'; 201]);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(reader.fill(&mut &output[..])).unwrap();
        assert_eq!(reader.next(), Some(Piece::TooLarge(&[b'x'; 96])));
    }

    #[test]
    fn a_frame_that_cannot_be_made_leaves_the_buffer_as_it_was() {
        let mut buffer = b"before".to_vec();
        let unserializable = std::collections::BTreeMap::from([(vec![1], 2)]);
        append_frame(&mut buffer, &unserializable).unwrap_err();
        assert_eq!(buffer, b"before");
        append_frame(&mut buffer, &[1]).unwrap();
        assert_eq!(buffer, b"before\0\0\0\x03[1]");
    }

    proptest! {
        #[test]
        fn frames_come_out_however_output_is_cut(
            parts in prop::collection::vec((any::<bool>(), prop::collection::vec(prop::sample::select(b"ab-{}".to_vec()), 0..40)), 0..8),
            cut in 1_usize..30,
        ) {
            let output: Vec<u8> = parts.iter().flat_map(|(is_frame, body)| if *is_frame { frame(body) } else { body.clone() }).collect();
            let chunks: Vec<&[u8]> = output.chunks(cut).collect();
            let expected: Vec<Vec<u8>> = parts.iter().filter(|(is_frame, _)| *is_frame).map(|(_, body)| body.clone()).collect();
            // Noise before a frame can by chance look like the token's beginning and swallow nothing but itself.
            prop_assert_eq!(pieces(&chunks, 100).0, expected);
        }
    }
}
