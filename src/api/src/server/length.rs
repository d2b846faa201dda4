//! A content-length that is no number, brought to the application.
//!
//! The HTTP decoder answers it itself, with an empty 400; the Placement API
//! promises an error with a body. So the connection renames such a header, in
//! the bytes that were read and to a name of the same length, and the gate
//! answers and closes; what comes after that head is thrown away. It follows
//! the framing of messages so as never to touch a body; where it cannot follow
//! (chunked bodies, a head that came in pieces) it leaves the rest of the
//! connection alone.

use actix_web::rt::net::{ActixStream, Ready};
use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The name under which a content-length that is no number arrives.
pub const BAD_LENGTH: &str = "x-length-error";
const LENGTH: &[u8] = b"content-length";
const _: () = assert!(LENGTH.len() == BAD_LENGTH.len());

/// Where in the stream of messages the next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// At the start of a message.
    Head,
    /// This many bytes before the end of a body.
    Body(u64),
    /// Not known any more.
    Lost,
    /// Behind a head whose body has no length: nothing more is read.
    Ended,
}

impl Position {
    /// Follows the framing through newly read bytes, renaming what is to be
    /// renamed. Gives how many of them count.
    fn follow(mut self, bytes: &mut [u8]) -> (Self, usize) {
        let mut at = 0;
        while at < bytes.len() {
            match self {
                Self::Lost => return (self, bytes.len()),
                Self::Ended => return (self, at),
                Self::Body(left) => {
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    let left = left - here as u64;
                    self = if left == 0 { Self::Head } else { Self::Body(left) };
                    at += here;
                }
                Self::Head => {
                    let Some(end) = find(&bytes[at..], b"\r\n\r\n") else {
                        return (Self::Lost, bytes.len());
                    };
                    let head = &mut bytes[at..at + end + 4];
                    at += head.len();
                    self = read_head(head);
                }
            }
        }
        (self, at)
    }
}

/// Looks through the headers of a message for the length of its body.
fn read_head(head: &mut [u8]) -> Position {
    let mut length = 0;
    let mut start = find(head, b"\r\n").map_or(head.len(), |end| end + 2);
    while let Some(size) = find(&head[start..], b"\r\n").filter(|size| *size > 0) {
        let line = &mut head[start..start + size];
        start += size + 2;
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at_mut(colon);
        if name.eq_ignore_ascii_case(b"transfer-encoding") || name.eq_ignore_ascii_case(b"upgrade")
        {
            return Position::Lost;
        }
        if name.eq_ignore_ascii_case(LENGTH) {
            let value = value[1..].trim_ascii();
            if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
                name.copy_from_slice(BAD_LENGTH.as_bytes());
                return Position::Ended;
            }
            let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            let Some(number) = number else { return Position::Lost };
            length = number;
        }
    }
    if length == 0 { Position::Head } else { Position::Body(length) }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// A connection that renames a content-length that is no number.
#[derive(Debug)]
pub struct LengthGuard<S> {
    stream: S,
    position: Position,
}

impl<S> LengthGuard<S> {
    /// Guards a connection from its first byte.
    pub fn new(stream: S) -> Self {
        Self { stream, position: Position::Head }
    }
}

impl<S: AsyncRead + Unpin> LengthGuard<S> {
    /// Throws away what still comes, so that closing does not cut off the
    /// answer; then the end.
    fn drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; 4096];
        loop {
            let mut waste = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut waste) {
                Poll::Ready(Ok(())) if !waste.filled().is_empty() => {}
                other => return other,
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LengthGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.position == Position::Ended {
            return self.drain(context);
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let (position, count) = self.position.follow(&mut buffer.filled_mut()[before..]);
        self.position = position;
        buffer.set_filled(before + count);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LengthGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

impl<S: ActixStream> ActixStream for LengthGuard<S> {
    fn poll_read_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        self.stream.poll_read_ready(context)
    }

    fn poll_write_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        self.stream.poll_write_ready(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the decoder sees of reads that arrive one after the other.
    fn seen(reads: &[&str]) -> String {
        let mut position = Position::Head;
        let mut seen = String::new();
        for read in reads {
            let mut bytes = read.as_bytes().to_vec();
            let (next, count) = position.follow(&mut bytes);
            position = next;
            seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        seen
    }

    #[test]
    fn a_bad_length_is_renamed_and_nothing_after_it_is_seen() {
        for bad in ["hi mom", "", "+5", "-1", "0x10", "1 2"] {
            let text = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {bad}\r\n\r\n");
            let expected = text.replace("Content-Length", BAD_LENGTH);
            assert_eq!(seen(&[&format!("{text}{{}}")]), expected);
            assert_eq!(seen(&[&text, "GET / HTTP/1.1\r\n\r\n"]), expected);
        }
    }

    #[test]
    fn a_good_length_and_a_body_are_left_alone() {
        let body = "\r\n\r\ncontent-length: no\r\n\r\n";
        let message = format!("PUT / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let twice = format!("{message}{message}");
        assert_eq!(seen(&[&twice]), twice);
        // Cut anywhere inside the body, the framing holds.
        for cut in message.len() - body.len()..twice.len() {
            assert_eq!(seen(&[&twice[..cut], &twice[cut..]]), twice, "cut at {cut}");
        }
    }

    #[test]
    fn messages_after_others_are_looked_at() {
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let put = "PUT / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc";
        let bad = "PUT / HTTP/1.1\r\ncontent-length: x\r\n\r\n";
        let all = format!("{get}{put}{bad}");
        let expected = format!("{get}{put}{}", bad.replace("content-length", BAD_LENGTH));
        assert_eq!(seen(&[&all]), expected);
    }

    #[test]
    fn where_the_framing_is_lost_nothing_is_touched() {
        let chunked = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n";
        let inside = "GET / HTTP/1.1\r\ncontent-length: no\r\n\r\n";
        assert_eq!(seen(&[chunked, inside]), format!("{chunked}{inside}"));
        let (first, second) = inside.split_at(20);
        assert_eq!(seen(&[first, second]), inside);
    }
}
