//! Serves any number of peers over UDP from one socket. An address that has not proved that it is
//! its sender's own is never sent more bytes than came from it: otherwise a responder could be made
//! to flood somebody else (RFC 8085, 3.1.10 and RFC 9000, 8.1 for the rule).

use super::device::{Device, DeviceConfig, Trust};
use super::event::{Reported, ServeEvent};
use super::platform;
use super::streams::Pull;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wiregauge_link::host::Clock;

/// Addresses remembered as proved, and peers kept with a device of their own, at most.
const PEERS: usize = 1024;

/// A proof holds so long after the last request.
const PROOF_NS: u64 = 60_000_000_000;

const LOOK: Duration = Duration::from_millis(100);

/// The largest UDP payload.
const DATAGRAM: usize = 65_536;

/// Transfers that a source sends before the socket is looked at again.
const SOURCE_BURST: usize = 16;

struct Peer {
    device: Device,
    seen_ns: u64,
    /// When its source goes on, if it has one.
    source_ns: Option<u64>,
}

impl Peer {
    /// When it has something to send.
    fn next_due_ns(&self) -> Option<u64> {
        let due = [self.device.next_due_ns(), self.source_ns];
        due.into_iter().flatten().min()
    }
}

/// Sends replies. One that the system refuses is lost, as a datagram may be, and so is one larger than
/// a datagram.
struct Replies<'a> {
    socket: &'a UdpSocket,
    on_event: &'a dyn Fn(ServeEvent<'_>),
    reported: Reported,
}

impl Replies<'_> {
    fn send(&mut self, reply: &[u8], to: SocketAddr) {
        if let Err(error) = self.socket.send_to(reply, to)
            && self.reported.is_first(&error)
        {
            let peer = &to.to_string();
            (self.on_event)(ServeEvent::ReplyLost {
                peer,
                error: &error,
            });
        }
    }
}

/// Serves until the stop flag is raised.
pub fn serve(
    socket: &UdpSocket,
    config: &DeviceConfig,
    max_peers: usize,
    clock: Clock,
    stop: &AtomicBool,
    on_event: &dyn Fn(ServeEvent<'_>),
) -> io::Result<()> {
    let mut replies = Replies {
        socket,
        on_event,
        reported: Reported::default(),
    };
    let secret = RandomState::new();
    let mut peers: HashMap<SocketAddr, Peer> = HashMap::new();
    let mut proved: HashMap<IpAddr, u64> = HashMap::new();
    let mut buffer = vec![0; DATAGRAM];
    let mut ready = Vec::new();
    // Peers that owe answers or data; empty unless the device is modelled or a source flows.
    let mut owing: Vec<SocketAddr> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let due = owing
            .iter()
            .filter_map(|at| peers.get(at)?.next_due_ns())
            .min();
        let now = clock.now();
        let left = due
            .map_or(LOOK, |due| Duration::from_nanos(due.saturating_sub(now)))
            .min(LOOK);
        if due.is_some() {
            // The socket's own timeout counts in ticks of the kernel: too coarse for a model.
            wiregauge_link::wait_readable(wiregauge_link::borrowed(socket), left)?;
        }
        let received = match due {
            Some(_) => platform::receive_now(socket, &mut buffer),
            None => socket.recv_from(&mut buffer),
        };
        match received {
            Ok((length, from)) if may_be_answered(from) => {
                let now = clock.now();
                let bytes = &buffer[..length];
                let token = secret.hash_one(from.ip()).to_le_bytes();
                if Device::token_in(bytes) == Some(token) {
                    make_room(&mut proved, now);
                    proved.insert(from.ip(), now);
                }
                let trust = match proved.get_mut(&from.ip()) {
                    Some(seen) if now.saturating_sub(*seen) < PROOF_NS => {
                        *seen = now;
                        Trust::Proved
                    }
                    _ => Trust::Unproved,
                };
                if peers.len() >= max_peers.min(PEERS) && !peers.contains_key(&from) {
                    make_room_for(&mut peers, max_peers.min(PEERS));
                }
                let peer = peers.entry(from).or_insert_with(|| Peer {
                    device: Device::new(config.clone(), clock),
                    seen_ns: now,
                    source_ns: None,
                });
                peer.seen_ns = now;
                ready.clear();
                peer.device.take_datagram(bytes, now, trust, &mut ready);
                if Device::token_in(bytes).is_some() {
                    write_token(&mut ready, token);
                }
                if !ready.is_empty() {
                    replies.send(&ready, from);
                }
                peer.source_ns = peer.device.source_bytes().map(|_| now);
                if peer.next_due_ns().is_some() && !owing.contains(&from) {
                    owing.push(from);
                }
            }
            Ok(_) => {}
            // A refused answer (ICMP) is the peer's affair, not the responder's end.
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        let now = clock.now();
        owing.retain(|at| {
            let Some(peer) = peers.get_mut(at) else {
                return false;
            };
            while let Some(answer) = peer.device.pop_due(now) {
                replies.send(&answer, *at);
            }
            if peer.source_ns.is_some_and(|due| due <= now) {
                peer.source_ns = send_source(&mut replies, &mut peer.device, now, *at, &mut ready);
            }
            peer.next_due_ns().is_some()
        });
    }
    Ok(())
}

/// Sends what a source has due, a datagram each; returns when it goes on.
fn send_source(
    replies: &mut Replies<'_>,
    device: &mut Device,
    now: u64,
    to: SocketAddr,
    ready: &mut Vec<u8>,
) -> Option<u64> {
    for _ in 0..SOURCE_BURST {
        ready.clear();
        let next = device.pull(now, device.source_bytes()?, ready);
        if !ready.is_empty() {
            replies.send(ready, to);
        }
        match next {
            Pull::Idle => return None,
            Pull::NextAt(at) if at > now => return Some(at),
            Pull::NextAt(_) => {}
        }
    }
    Some(now)
}

/// Requests from reserved ports are no measurement: they are how two echo services are set upon
/// each other for ever.
fn may_be_answered(from: SocketAddr) -> bool {
    from.port() >= 1024
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::WouldBlock | Kind::TimedOut | Kind::Interrupted | Kind::ConnectionRefused
    )
}

/// The token stands in the last bytes of the answer to HELLO.
fn write_token(answer: &mut [u8], token: [u8; 8]) {
    if answer.len() == wiregauge_wire::HELLO_RESPONSE {
        let at = answer.len() - token.len();
        answer[at..].copy_from_slice(&token);
    }
}

/// Forgets proofs that are over, and the oldest if that is not enough.
fn make_room(proved: &mut HashMap<IpAddr, u64>, now: u64) {
    if proved.len() < PEERS {
        return;
    }
    proved.retain(|_, seen| now.saturating_sub(*seen) < PROOF_NS);
    if proved.len() >= PEERS {
        let oldest = proved
            .iter()
            .min_by_key(|(_, at)| **at)
            .map(|(address, _)| *address);
        oldest.map(|address| proved.remove(&address));
    }
}

fn make_room_for(peers: &mut HashMap<SocketAddr, Peer>, most: usize) {
    while peers.len() >= most {
        let oldest = peers
            .iter()
            .min_by_key(|(_, peer)| peer.seen_ns)
            .map(|(at, _)| *at);
        match oldest {
            Some(at) => peers.remove(&at),
            None => return,
        };
    }
}
