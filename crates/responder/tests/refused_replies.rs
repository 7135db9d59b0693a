//! A reply that the system refuses to send is a lost reply, never the end of the responder.

use crate::serve_streams::{MAX_WAIT, Responder};
use std::net::UdpSocket;
use std::sync::mpsc;
use wiregauge_record::Protocol;
use wiregauge_responder::DeviceConfig;

/// What sending a datagram may say: sendto(2), udp(7), ip(7).
const REFUSALS: [i32; 12] = [
    libc::ENOBUFS,
    libc::EPERM,
    libc::ENETUNREACH,
    libc::EHOSTUNREACH,
    libc::ENETDOWN,
    libc::EACCES,
    libc::EINVAL,
    libc::ENOMEM,
    libc::EMSGSIZE,
    libc::ECONNREFUSED,
    libc::EAGAIN,
    libc::EINTR,
];

/// A datagram of `FIRST + i` bytes is refused with `REFUSALS[i]`.
const FIRST: u32 = 100;

/// From now on the kernel refuses what this thread sends, by its length (seccomp(2)).
fn refuse_by_length() {
    // struct seccomp_data: number of the call at 0, arguments of 8 bytes from 16 on.
    let length_at = 16 + 2 * 8 + if cfg!(target_endian = "big") { 4 } else { 0 };
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let end = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, k| libc::sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    };
    let skip_unless_equal = |k| libc::sock_filter {
        code: equal,
        jt: 0,
        jf: 1,
        k,
    };
    let is_sendto = libc::sock_filter {
        code: equal,
        jt: 1,
        jf: 0,
        k: libc::SYS_sendto as u32,
    };
    let mut filter = vec![
        step(load, 0),
        is_sendto,
        step(end, libc::SECCOMP_RET_ALLOW),
        step(load, length_at),
    ];
    for (length, errno) in (FIRST..).zip(REFUSALS) {
        filter.push(skip_unless_equal(length));
        filter.push(step(end, libc::SECCOMP_RET_ERRNO | errno as u32));
    }
    filter.push(step(end, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: prctl takes integers and a pointer to a program that outlives the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            + libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program)
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn a_reply_that_the_system_refuses_is_lost_and_said_once() {
    let config = DeviceConfig {
        protocol: Protocol::Echo,
        ..DeviceConfig::default()
    };
    let (lose, lost) = mpsc::channel();
    let responder = Responder::of("udp://:0", config, refuse_by_length, lose);
    let host = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = responder.address.trim_start_matches("udp://");
    host.connect(address).expect("connected");
    host.set_read_timeout(Some(MAX_WAIT)).expect("set");
    let mut reply = [0; 2048];
    for (length, errno) in (FIRST as usize..).zip(REFUSALS) {
        // What is not answered is not waited for: the answer to the datagram behind it says so.
        for _ in 0..2 {
            host.send(&vec![0x5a; length]).expect("sent");
            host.send(&[0xa5; 48]).expect("sent");
            let received = host.recv(&mut reply);
            let received = received.unwrap_or_else(|error| panic!("after error {errno}: {error}"));
            assert_eq!(reply[..received], [0xa5; 48], "after error {errno}");
        }
    }
    let lost: Vec<_> = lost.try_iter().collect();
    assert_eq!(lost, REFUSALS.map(Some));
}
