use std::time::Duration;

use serde_json::json;
use tonic::Status;

use crate::pb::{
    Leadership, ObserveRequest, Selector, observe_response::Message, selector::By, snapshot,
};
use crate::{Client, Replicas, complain, say, within, word};

/// For an Observe stream, on which the service sends something at least every 10 s.
const SILENCE_MAX: Duration = Duration::from_secs(25);

/// Prints every change, once and in order, from any replica.
pub async fn observe(election: String, mut replicas: Replicas) {
    let mut selector = Selector {
        by: Some(By::Election(election)),
        from_revision: None,
    };
    loop {
        let (replica, client) = replicas.current();
        match observe_one_stream(client, &mut selector, || replicas.failures = 0).await {
            Ok(()) => eprintln!("the Observe stream was closed"),
            Err(error) => complain(&error),
        }
        tokio::time::sleep(replicas.failed(replica)).await;
    }
}

/// Leaves the starting point of the next stream in the selector.
async fn observe_one_stream(
    mut client: Client,
    selector: &mut Selector,
    mut alive: impl FnMut(),
) -> Result<(), Status> {
    let request = ObserveRequest {
        selectors: vec![selector.clone()],
    };
    let mut stream = within(SILENCE_MAX, client.observe(request))
        .await?
        .into_inner();
    while let Some(answer) = within(SILENCE_MAX, stream.message()).await? {
        alive();
        let revision = match answer.message {
            Some(Message::Event(event)) => {
                let kind = event.r#type().as_str_name().trim_start_matches("TYPE_");
                let term = event
                    .leadership
                    .as_ref()
                    .map_or(0, |leadership| leadership.term);
                say_observed(event.revision, kind, term, event.leadership, event.cause);
                event.revision
            }
            Some(Message::Snapshot(snapshot)) => {
                let resync = snapshot.reason() == snapshot::Reason::Resync;
                let kind = if resync { "RESYNC" } else { "SNAPSHOT" };
                say_observed(snapshot.revision, kind, snapshot.term, snapshot.leader, 0);
                snapshot.revision
            }
            Some(Message::Progress(_)) | None => continue,
        };
        selector.from_revision = Some(revision + 1);
    }
    Ok(())
}

fn say_observed(revision: u64, kind: &str, term: u64, leader: Option<Leadership>, cause: i32) {
    say(json!({
        "event": "observed", "revision": revision, "type": kind, "term": term,
        "candidate": leader.map(|leader| leader.candidate),
        "cause": if cause == 0 { None } else { Some(word(cause)) },
    }));
}
