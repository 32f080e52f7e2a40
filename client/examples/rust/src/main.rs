//! Stands for one election, works while it leads, and prints every change of who leads.
//!
//! It uses nothing but the stubs generated from election.proto, whose comments are the contract.

mod candidate;
mod observe;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use pb::election_service_client::ElectionServiceClient;

mod pb {
    tonic::include_proto!("tenure.v1");
}

type Client = ElectionServiceClient<Channel>;

/// The clock that leases are counted by. A lease continues while the machine is suspended, and so
/// does this clock of Linux; `Instant` does not.
fn now() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn say(mut line: Value) {
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    line["time_ms"] = json!(time.as_millis() as u64);
    println!("{line}");
}

fn complain(error: &Status) {
    eprintln!("{:?}: {}", error.code(), error.message());
}

/// Fails when `limit` has passed. The time to connect counts, too.
async fn within<T>(
    limit: Duration,
    call: impl Future<Output = Result<T, Status>>,
) -> Result<T, Status> {
    match tokio::time::timeout(limit, call).await {
        Ok(answer) => answer,
        Err(_) => Err(Status::deadline_exceeded(format!(
            "no answer for {limit:?}"
        ))),
    }
}

/// Makes EXPIRED of CAUSE_EXPIRED.
fn word(cause: i32) -> &'static str {
    pb::Cause::try_from(cause)
        .unwrap_or_default()
        .as_str_name()
        .trim_start_matches("CAUSE_")
}

/// The replica to talk to. Any will do; a caller that meets a broken one moves on to the next.
#[derive(Clone)]
struct Replicas {
    clients: Vec<Client>,
    current: usize,
    failures: u32,
}

impl Replicas {
    fn new(endpoints: &[String]) -> Result<Self, tonic::transport::Error> {
        let connect = |endpoint: &String| {
            let endpoint = Endpoint::from_shared(format!("http://{endpoint}"))?
                .connect_timeout(Duration::from_secs(3))
                .http2_keep_alive_interval(Duration::from_secs(10)) // the service allows 5 s
                .keep_alive_timeout(Duration::from_secs(5));
            Ok(Client::new(endpoint.connect_lazy()))
        };
        let clients = endpoints.iter().map(connect).collect::<Result<_, _>>()?;
        Ok(Self {
            clients,
            current: 0,
            failures: 0,
        })
    }

    fn current(&self) -> (usize, Client) {
        (self.current, self.clients[self.current].clone())
    }

    /// Returns how long to wait before the next attempt: longer each time, and with jitter.
    fn failed(&mut self, replica: usize) -> Duration {
        if replica == self.current {
            self.current = (replica + 1) % self.clients.len();
        }
        self.failures = (self.failures + 1).min(5);
        Duration::from_millis(30 << self.failures).mul_f64(rand::random_range(0.5..1.0))
    }
}

/// Stands for one election, works while it leads, and prints every change of who leads.
#[derive(Parser)]
struct Arguments {
    election: String,
    candidate: String,
    /// host:port[,host:port...]
    #[arg(
        long,
        env = "TENURE_ENDPOINTS",
        default_value = "127.0.0.1:7070",
        value_delimiter = ','
    )]
    endpoints: Vec<String>,
    /// Seconds that a lease lasts
    #[arg(long, default_value = "10", value_parser = seconds)]
    ttl: Duration,
}

fn seconds(text: &str) -> Result<Duration, Box<dyn Error + Send + Sync>> {
    Ok(Duration::try_from_secs_f64(text.parse()?)?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::parse();
    let replicas = Replicas::new(&arguments.endpoints)?;

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };

    tokio::spawn(observe::observe(
        arguments.election.clone(),
        replicas.clone(),
    ));
    let Arguments {
        election,
        candidate,
        ttl,
        ..
    } = arguments;
    match candidate::Candidate::new(election, candidate, replicas, ttl)
        .run(stop)
        .await
    {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(_) => Ok(ExitCode::FAILURE),
    }
}
