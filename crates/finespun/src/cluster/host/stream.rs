//! The connections between the first process and the others: sockets of one host, or of several.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[cfg(feature = "mpi")]
use rustix::net::sockopt;

/// Time without an arrival after which the system asks whether the other host is there, and time between two such questions.
#[cfg(feature = "mpi")]
const SILENT: Duration = Duration::from_secs(5);
/// Questions without an answer after which the connection ends: 25 s after the other host has lost its power or its network.
#[cfg(feature = "mpi")]
const TRIES: u32 = 4;

/// A connection.
#[derive(Debug)]
pub(super) enum Stream {
    Unix(UnixStream),
    #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "only processes on several hosts have it"))]
    Tcp(TcpStream),
}

impl Stream {
    /// Returns a connection whose messages leave at once, and that ends when the other host no longer answers.
    #[cfg(feature = "mpi")]
    pub(super) fn over_tcp(stream: TcpStream) -> io::Result<Stream> {
        stream.set_nodelay(true)?;
        sockopt::set_tcp_keepidle(&stream, SILENT)?;
        sockopt::set_tcp_keepintvl(&stream, SILENT)?;
        sockopt::set_tcp_keepcnt(&stream, TRIES)?;
        // Also if the other host has not confirmed what has been sent: in milliseconds.
        sockopt::set_tcp_user_timeout(&stream, (SILENT * (TRIES + 1)).as_millis() as u32)?;
        sockopt::set_socket_keepalive(&stream, true)?;
        Ok(Stream::Tcp(stream))
    }

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

#[cfg(all(test, feature = "mpi", not(loom)))]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn a_silent_host_is_noticed() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let own = TcpStream::connect(listener.local_addr().unwrap()).and_then(Stream::over_tcp).unwrap();
        let Stream::Tcp(own) = own else { panic!("over TCP") };
        assert!(own.nodelay().unwrap() && sockopt::socket_keepalive(&own).unwrap());
        let idle = sockopt::tcp_keepidle(&own).unwrap();
        let tries = sockopt::tcp_keepintvl(&own).unwrap() * sockopt::tcp_keepcnt(&own).unwrap();
        let unconfirmed = Duration::from_millis(sockopt::tcp_user_timeout(&own).unwrap().into());
        assert_eq!((idle + tries, unconfirmed), (Duration::from_secs(25), Duration::from_secs(25)));
    }
}
