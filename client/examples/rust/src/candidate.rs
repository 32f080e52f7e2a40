use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryFutureExt};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Response, Status};

use crate::pb::{
    CampaignRequest, Cause, KeepAliveRequest, KeepAliveResponse, Renewal, ResignRequest,
    SeatNotice, campaign_response::Outcome, keep_alive_response::Message, resign_response,
    seat_notice::Change, session_renewal,
};
use crate::{Replicas, complain, now, say, within, word};

const RENEWALS_PER_LEASE: u32 = 3;
/// Renewals, each for a sixth of the lease; after that the replica counts as hanging.
const UNANSWERED_MAX: usize = 2;
/// How often to check that the place in the queue still exists.
const CHECK_PLACE: Duration = Duration::from_secs(30);

/// The part of a lease that is believed in; the rest is for clocks that drift apart.
fn trusted(lease: Duration) -> Duration {
    lease / 10 * 9
}

/// Makes all decisions in `run`, one after another. All times are those of `now`.
pub struct Candidate {
    election: String,
    name: String,
    ttl: Duration,
    replicas: Replicas,

    session: String,
    previous: String,
    request_id: Vec<u8>,
    lease: Duration,
    campaign_at: Duration,

    granted: Option<u64>, // the term that the service says we hold
    term: Option<u64>,    // the term that we believe in, but only before `until`
    until: Duration,
    over: Option<u64>, // the last term that we stopped believing in: never again
    work_at: Duration,

    stream: Option<KeepAlive>,
    open_at: Duration,
}

/// One stream. Dropping it cancels it.
struct KeepAlive {
    replica: usize,
    requests: mpsc::Sender<KeepAliveRequest>,
    messages: BoxStream<'static, Result<KeepAliveResponse, Status>>,
    believed_at_open: Option<u64>,
    sequence: u64,
    sent_at: BTreeMap<u64, Duration>, // of unanswered renewals
    renew_at: Duration,
}

impl Candidate {
    pub fn new(election: String, name: String, replicas: Replicas, ttl: Duration) -> Self {
        let mut candidate = Self {
            election,
            name,
            ttl,
            replicas,
            session: String::new(),
            previous: String::new(),
            request_id: Vec::new(),
            lease: ttl,
            campaign_at: now(),
            granted: None,
            term: None,
            until: now(),
            over: None,
            work_at: now(),
            stream: None,
            open_at: now(),
        };
        candidate.new_session(String::new());
        candidate
    }

    fn new_session(&mut self, previous: String) {
        self.close_stream();
        self.session.clear();
        self.previous = previous;
        self.granted = None;
        // The same in every retry: if an answer is lost, the retry finds the session it opened.
        self.request_id = rand::random::<[u8; 16]>().to_vec();
        (self.campaign_at, self.open_at) = (now(), now());
    }

    /// Returns when `stop` does, or with an error that retrying would not fix.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), Status> {
        let mut stop = pin!(stop);
        loop {
            if self.term.is_some() && now() >= self.until {
                self.stop_work("lost", "cause", "EXPIRED"); // whatever the network says
            }
            if self.term.is_none() && now() >= self.campaign_at {
                self.campaign().await?;
            }
            if !self.session.is_empty() && self.stream.is_none() && now() >= self.open_at {
                self.open_stream();
            }
            if self
                .stream
                .as_ref()
                .is_some_and(|stream| now() >= stream.renew_at)
            {
                self.renew();
            }
            if self.term.is_some() && now() >= self.work_at {
                self.work();
            }
            let pause = self.due().saturating_sub(now());
            tokio::select! {
                message = next_message(&mut self.stream) => self.take_in(message),
                () = sleep(pause) => {}
                () = &mut stop => break,
            }
        }
        self.leave().await;
        Ok(())
    }

    /// When something is next due by itself.
    fn due(&self) -> Duration {
        let due = match self.term {
            Some(_) => self.until.min(self.work_at),
            None => self.campaign_at,
        };
        match &self.stream {
            Some(stream) => due.min(stream.renew_at),
            None if !self.session.is_empty() => due.min(self.open_at),
            None => due,
        }
    }

    /// Longer work runs elsewhere, and checks the same before each step that matters.
    fn work(&mut self) {
        self.work_at = now() + Duration::from_secs(1);
        let left = self.until.saturating_sub(now());
        if !left.is_zero() {
            // The term is the fencing token: pass it along with every write.
            say(json!({"event": "work", "term": self.term, "left_ms": left.as_millis() as u64}));
        }
    }

    /// Ends the belief for good. If work runs elsewhere, wait for it here.
    fn stop_work(&mut self, event: &str, what: &str, why: &str) {
        if let Some(term) = self.term.take() {
            say(json!({"event": event, "term": term, what: why}));
        }
        self.over = self.over.max(self.granted);
        self.campaign_at = now();
    }

    /// The service says that we hold the seat in this term.
    fn seat(&mut self, term: u64) {
        if self.term.is_some_and(|believed| term > believed) {
            self.stop_work("lost", "cause", "UNKNOWN");
        }
        self.granted = self.granted.max(Some(term));
        if self.granted <= self.over {
            self.campaign_at = now(); // which resigns it first
        } else if self.term.is_none() && now() < self.until {
            (self.term, self.work_at) = (self.granted, now());
            say(
                json!({"event": "elected", "election": self.election, "term": self.term,
                       "candidate": self.name}),
            );
        }
    }

    /// Takes a place in the queue, or checks that it still exists. KeepAlive reports the rest.
    async fn campaign(&mut self) -> Result<(), Status> {
        if self.granted.is_some() && self.granted <= self.over && !self.resign_seat().await {
            return Ok(());
        }
        let request = CampaignRequest {
            election: self.election.clone(),
            candidate: self.name.clone(),
            session_id: self.session.clone(),
            request_id: self.request_id.clone(),
            previous_session_id: self.previous.clone(),
            lease_ttl: prost_types::Duration::try_from(self.ttl).ok(),
            wait: Some(prost_types::Duration::default()),
            ..Default::default()
        };
        let (replica, mut client) = self.replicas.current();
        match within(self.lease / RENEWALS_PER_LEASE, client.campaign(request)).await {
            Ok(answer) => {
                let answer = answer.into_inner();
                self.campaign_at = now() + CHECK_PLACE;
                self.session = answer.session.unwrap_or_default().session_id;
                self.previous.clear();
                if let Some(Outcome::Elected(elected)) = answer.outcome {
                    self.seat(elected.term);
                }
            }
            Err(error) => {
                complain(&error);
                self.campaign_at = now() + self.replicas.failed(replica);
                match error.code() {
                    Code::InvalidArgument => return Err(error),
                    Code::NotFound => self.new_session(String::new()),
                    // The session has ended; the renewal tells why.
                    Code::FailedPrecondition => self.renew_now(),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Only after the work has stopped: once this call is sent, another candidate may lead.
    async fn resign_seat(&mut self) -> bool {
        self.resign(ResignRequest {
            session_id: self.session.clone(),
            election: self.election.clone(),
            term: self.granted,
        })
        .await
    }

    /// Returns false if it must be repeated.
    async fn resign(&mut self, request: ResignRequest) -> bool {
        let (replica, mut client) = self.replicas.current();
        match within(self.lease / RENEWALS_PER_LEASE, client.resign(request)).await {
            Ok(answer) => {
                let outcome = answer.into_inner().outcome();
                if outcome != resign_response::Outcome::SessionEnded {
                    say(json!({"event": "resigned", "term": self.granted}));
                }
            }
            Err(error) => {
                complain(&error);
                if !matches!(error.code(), Code::NotFound | Code::FailedPrecondition) {
                    self.campaign_at = now() + self.replicas.failed(replica);
                    return false;
                }
            }
        }
        self.granted = None;
        true
    }

    async fn leave(mut self) {
        self.over = self.granted; // nothing works any more
        let give_up_at = now() + self.lease; // by then the service has taken the seat back
        while !self.session.is_empty() && now() < give_up_at {
            let end_of_session = ResignRequest {
                session_id: self.session.clone(),
                ..Default::default()
            };
            if (self.granted.is_none() || self.resign_seat().await)
                && self.resign(end_of_session).await
            {
                return;
            }
            sleep(self.campaign_at.saturating_sub(now())).await;
        }
    }

    fn open_stream(&mut self) {
        let (replica, mut client) = self.replicas.current();
        let (requests, outgoing) = mpsc::channel(UNANSWERED_MAX);
        let incoming = async move {
            client
                .keep_alive(ReceiverStream::new(outgoing))
                .await
                .map(Response::into_inner)
        };
        self.stream = Some(KeepAlive {
            replica,
            requests,
            messages: incoming.try_flatten_stream().boxed(),
            believed_at_open: self.term,
            sequence: 0,
            sent_at: BTreeMap::new(),
            renew_at: now(),
        });
    }

    fn close_stream(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.open_at = now() + self.replicas.failed(stream.replica);
        }
    }

    fn renew_now(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.renew_at = now();
        }
    }

    fn renew(&mut self) {
        let Some(stream) = &mut self.stream else {
            return;
        };
        if stream.sent_at.len() == UNANSWERED_MAX {
            return self.close_stream();
        }
        stream.sequence += 1;
        // The lease counts from before the request is sent. The service begins to count it later,
        // so our belief ends before its lease does, however long request and answer take.
        stream.sent_at.insert(stream.sequence, now());
        stream.renew_at = now() + self.lease / RENEWALS_PER_LEASE / 2; // unless this is answered
        let request = KeepAliveRequest {
            sequence: stream.sequence,
            session_ids: vec![self.session.clone()],
        };
        if stream.requests.try_send(request).is_err() {
            self.close_stream();
        }
    }

    /// Takes in a message of the stream, or its end.
    fn take_in(&mut self, message: Option<Result<KeepAliveResponse, Status>>) {
        match message {
            Some(Ok(answer)) => match answer.message {
                Some(Message::Renewal(renewal)) => self.take_in_renewal(renewal),
                Some(Message::SessionEnded(ended)) => self.session_ended(ended.cause),
                Some(Message::Notice(notice)) => self.take_in_notice(notice),
                None => {}
            },
            Some(Err(error)) => {
                complain(&error);
                self.close_stream();
            }
            None => self.close_stream(),
        }
    }

    fn take_in_notice(&mut self, notice: SeatNotice) {
        if notice.election != self.election {
            return;
        }
        match notice.change {
            Some(Change::Elected(elected)) => self.seat(elected.term),
            Some(Change::Lost(lost)) if Some(lost.term) == self.granted => {
                self.stop_work("lost", "cause", word(lost.cause));
                self.granted = None;
            }
            Some(Change::StepDown(ask)) if Some(ask.term) == self.granted => {
                self.stop_work("step_down", "successor", &ask.successor);
            }
            _ => {}
        }
    }

    fn take_in_renewal(&mut self, renewal: Renewal) {
        let Some(stream) = &mut self.stream else {
            return;
        };
        let Some(sent_at) = stream.sent_at.get(&renewal.sequence).copied() else {
            return;
        };
        let Some(session) = renewal.sessions.into_iter().next() else {
            return;
        };
        let lease = match session.result {
            Some(session_renewal::Result::LeaseTtl(lease)) => {
                lease.try_into().unwrap_or(self.lease)
            }
            Some(session_renewal::Result::Ended(cause)) => return self.session_ended(cause),
            _ => return self.session_ended(Cause::Unspecified.into()),
        };
        self.replicas.failures = 0;
        self.lease = lease;
        self.until = self.until.max(sent_at + trusted(lease));
        stream.renew_at = sent_at + lease / RENEWALS_PER_LEASE;
        stream.sent_at = stream.sent_at.split_off(&(renewal.sequence + 1));
        if renewal.sequence == 1 {
            // The first renewal of a stream lists what the session holds.
            let believed_at_open = stream.believed_at_open;
            let held = session
                .seats
                .into_iter()
                .find(|seat| seat.election == self.election);
            let held_term = held.as_ref().map(|seat| seat.term);
            if self.term.is_some() && self.term == believed_at_open && self.term != held_term {
                self.stop_work("lost", "cause", "UNKNOWN");
                self.granted = None;
            }
            if let Some(held) = held {
                self.seat(held.term);
                if !held.successor.is_empty() && self.granted == Some(held.term) {
                    self.stop_work("step_down", "successor", &held.successor);
                }
            }
        }
        if let Some(term) = self.granted {
            self.seat(term);
        }
    }

    fn session_ended(&mut self, cause: i32) {
        self.stop_work("lost", "cause", word(cause));
        // Naming a session that expired although this process lives gives the next one a longer
        // lease.
        let expired = cause == i32::from(Cause::Expired);
        let previous = if expired {
            std::mem::take(&mut self.session)
        } else {
            String::new()
        };
        self.new_session(previous);
    }
}

/// Never completes while no stream is open.
async fn next_message(stream: &mut Option<KeepAlive>) -> Option<Result<KeepAliveResponse, Status>> {
    match stream {
        Some(stream) => stream.messages.next().await,
        None => std::future::pending().await,
    }
}
