//! The end of a connection whose caller may still be sending: closed with bytes unread, it is reset, and the caller
//! never sees the reply that says why.

use std::{
    io,
    net::Shutdown,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// How long the caller's next bytes are waited for.
const NEXT: Duration = Duration::from_secs(2);
/// How long is read at most.
const ALL: Duration = Duration::from_secs(30);
/// Read at once.
const PIECE: usize = 64 * 1024;

/// Says that nothing more comes, and throws away what the caller still sends, until it closes too.
pub(crate) async fn linger(socket: &TcpStream) {
    let _ = SockRef::from(socket).shutdown(Shutdown::Write);
    let closed = async {
        let mut thrown_away = Vec::with_capacity(PIECE);
        while let Ok(Ok(())) = tokio::time::timeout(NEXT, socket.readable()).await {
            thrown_away.clear();
            match socket.try_read_buf(&mut thrown_away) {
                Ok(1..) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => return,
            }
        }
    };
    let _ = tokio::time::timeout(ALL, closed).await;
}

/// A socket as the HTTP server reads and writes it; it stays open when the server is done with it.
pub(crate) struct Lent(pub Arc<TcpStream>);

impl AsyncRead for Lent {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(context))?;
            match self.0.try_read_buf(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(drop)),
            }
        }
    }
}

impl AsyncWrite for Lent {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(context))?;
            match self.0.try_write_vectored(pieces) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&*self.0).shutdown(Shutdown::Write))
    }
}
