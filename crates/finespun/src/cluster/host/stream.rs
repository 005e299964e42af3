//! The connections between the first process and the others: sockets of one host, or of several.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connection.
#[derive(Debug)]
pub(super) enum Stream {
    Unix(UnixStream),
    #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "only processes on several hosts have it"))]
    Tcp(TcpStream),
}

impl Stream {
    pub(super) fn try_clone(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
        })
    }

    /// Waits in operations, with a time limit for those that read.
    pub(super) fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(limit)),
            Stream::Tcp(stream) => stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(limit)),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => Read::read(&mut &*stream, bytes),
            Stream::Tcp(stream) => Read::read(&mut &*stream, bytes),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => Write::write(&mut &*stream, bytes),
            Stream::Tcp(stream) => Write::write(&mut &*stream, bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
