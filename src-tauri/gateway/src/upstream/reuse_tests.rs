//! Connections that are used again, and closed just then: both ways to a provider answer alike.

use std::{
    io,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures_util::{StreamExt, future::join_all};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Barrier,
    task::JoinSet,
};

use super::transport::{Counted, Counts, Outgoing, OutgoingHeaders, Pooled, SendError, Sends, Transport};

/// What a provider does when it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Answer,
    /// Waits until two were asked.
    AnswerTogether,
    Close,
    Reset,
    BeginHead,
    BeginBody,
}

use Does::{Answer, AnswerTogether, BeginBody, BeginHead, Close, Reset};

/// Both ways to this machine, as the URL says.
const NEAR: &str = "127.0.0.1";
const FAR: &str = "127.1";

/// What each connection does in turn; how many are asked at once, after one another; how the last of these ended, and
/// on which connections it was asked.
type Case = (&'static [&'static [Does]], &'static [usize], Result<u8, SendError>, &'static [usize]);

#[tokio::test]
async fn a_question_that_a_used_connection_closed_on_is_asked_once_more_on_a_new_one() {
    let cases: &[Case] = &[
        (&[&[Answer, Close], &[Answer]], &[1, 1], Ok(1), &[0, 1]),
        (&[&[Answer, Reset], &[Answer]], &[1, 1], Ok(1), &[0, 1]),
        (&[&[Answer, Answer, Close], &[Answer, Close], &[Answer]], &[1, 1, 1, 1], Ok(2), &[1, 2]),
        // Once only.
        (&[&[Answer, Close], &[Close], &[Answer]], &[1, 1], Err(SendError::Reset), &[0, 1]),
        (&[&[Answer, Reset], &[Reset], &[Answer]], &[1, 1], Err(SendError::Reset), &[0, 1]),
        // The other one that is kept is as likely to be closed.
        (&[&[AnswerTogether, Close], &[AnswerTogether, Close], &[Answer]], &[2, 1], Ok(2), &[2]),
        // A connection that nothing came on yet says nothing of the request.
        (&[&[Close], &[Answer]], &[1], Err(SendError::Reset), &[0]),
        (&[&[Reset], &[Answer]], &[1], Err(SendError::Reset), &[0]),
        // A reply had begun.
        (&[&[Answer, BeginBody], &[Answer]], &[1, 1], Err(SendError::Reset), &[0]),
    ];
    for (plan, asked, wanted, on) in cases {
        for host in [NEAR, FAR] {
            let (ended, came, sent) = ask(host, plan, asked, true).await;
            assert_eq!((&ended, sent), (wanted, came.len()), "{host} {plan:?}");
            assert!(came.ends_with(on), "{host} {plan:?}: {came:?}");
        }
    }
    let begun: &[&[Does]] = &[&[Answer, BeginHead], &[Answer]];
    assert_eq!(ask(NEAR, begun, &[1, 1], true).await, (Err(SendError::Reset), vec![0, 0], 2));
}

#[tokio::test]
async fn where_there_is_no_room_for_it_it_is_not_asked_once_more() {
    for ends in [Close, Reset] {
        for host in [NEAR, FAR] {
            let asked = ask(host, &[&[Answer, ends], &[Answer]], &[1, 1], false).await;
            assert_eq!(asked, (Err(SendError::Reset), vec![0, 0], 2), "{host} {ends:?}");
        }
    }
}

/// How the last question ended, on which connection each arrived, and how often they were counted to be sent.
async fn ask(
    host: &str,
    plan: &[&[Does]],
    asked: &[usize],
    has_room: bool,
) -> (Result<u8, SendError>, Vec<usize>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{host}:{}/v1", listener.local_addr().unwrap().port());
    let plan: Vec<Vec<Does>> = plan.iter().map(|does| does.to_vec()).collect();
    let came = Arc::new(Mutex::new(Vec::new()));
    let mut provider = JoinSet::new();
    provider.spawn(provide(listener, plan, came.clone()));
    let ways = Pooled::new().unwrap();
    let (mut last, mut sent) = (Vec::new(), 0);
    for at_once in asked {
        last = join_all((0..*at_once).map(|_| question(&ways, &url, has_room))).await;
        sent += last.iter().map(|(_, sent)| sent).sum::<usize>();
    }
    let came = came.lock().unwrap().clone();
    let (ended, _) = last.pop().unwrap();
    (ended, came, sent)
}

struct Room(Counted, bool);

impl Counts for Room {
    fn counted(&self) -> &Counted {
        &self.0
    }

    fn has_room(&self) -> bool {
        self.1
    }
}

async fn question(ways: &Pooled, url: &str, has_room: bool) -> (Result<u8, SendError>, usize) {
    let sends = Sends::of(Arc::new(Room(Counted::default(), has_room)));
    let question = Outgoing {
        method: http::Method::POST,
        url: url.to_owned(),
        headers: OutgoingHeaders::default(),
        body: Bytes::from_static(b"{}"),
        sends: sends.clone(),
    };
    let answered = async {
        let mut incoming = ways.send(question).await?;
        let mut whole = Vec::new();
        while let Some(piece) = incoming.body.next().await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole[0] - b'0')
    };
    (answered.await, sends.times() as usize)
}

async fn provide(listener: TcpListener, plan: Vec<Vec<Does>>, came: Arc<Mutex<Vec<usize>>>) {
    let together = Arc::new(Barrier::new(2));
    let mut connections = JoinSet::new();
    for (number, does) in plan.into_iter().enumerate() {
        let (socket, _) = listener.accept().await.unwrap();
        connections.spawn(connection(socket, number, does, came.clone(), together.clone()));
    }
    connections.join_all().await;
    std::future::pending::<()>().await;
}

async fn connection(
    mut socket: TcpStream,
    number: usize,
    plan: Vec<Does>,
    came: Arc<Mutex<Vec<usize>>>,
    together: Arc<Barrier>,
) -> io::Result<()> {
    for does in plan {
        let mut question = Vec::new();
        while !question.ends_with(b"\r\n\r\n{}") {
            if socket.read_buf(&mut question).await? == 0 {
                return Ok(());
            }
        }
        came.lock().unwrap().push(number);
        if does == AnswerTogether {
            together.wait().await;
        }
        match does {
            Answer | AnswerTogether => {
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{number}");
                socket.write_all(answer.as_bytes()).await?;
            }
            Close => return Ok(()),
            Reset => return socket.set_zero_linger(),
            BeginHead => return socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").await,
            BeginBody => {
                return socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n5").await;
            }
        }
    }
    // Whoever asks on is not answered.
    let _ = socket.read(&mut [0; 64]).await;
    Ok(())
}
