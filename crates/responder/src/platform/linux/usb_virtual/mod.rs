//! A USB device without hardware: Linux' virtual host controller enumerates it, its drivers make a
//! real `/dev/ttyACM0`, a real `/dev/hidraw0` and a real vendor interface of it, and a modelled bus says when each packet
//! passes. No network and no USB/IP tool: the kernel gets one end of a socket pair, and the import
//! phase of USB/IP is left out. What the device is, is in `crate::usb_virtual`; this plugs it in and moves the bytes.

mod vhci;

use crate::device::DeviceConfig;
use crate::event::ServeEvent;
use crate::gadget::Function;
use crate::trace::Trace;
use crate::usb_virtual::{Identity, Machine, VirtualPlan, usbip};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use vhci::Port;
use wiregauge_link::host::{self, Clock};
use wiregauge_link::{LinkError, LinkErrorKind};

/// How long a wait lasts at most before the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How often it is looked whether the kernel has enumerated the devices.
const LOOK_UP: Duration = Duration::from_millis(20);

/// How long the kernel may take to make a tty of a serial port; its driver may be loaded first.
const DRIVER: Duration = Duration::from_secs(5);

/// Bytes read at once.
const READ: usize = 64 << 10;

struct Plug {
    /// None after it was pulled out.
    port: Option<Port>,
    serial: String,
    interfaces: u8,
    /// What the kernel said that is not a whole command yet.
    heard: Vec<u8>,
    announced: bool,
}

/// Serves until the stop flag is raised or every device is gone.
pub fn serve(
    plan: &VirtualPlan,
    config: &DeviceConfig,
    clock: Clock,
    trace: Option<Trace>,
    stop: &AtomicBool,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> Result<(), LinkError> {
    let mut machine = Machine::new(plan.speed, plan.bus, clock);
    if trace.is_some() && plan.functions.contains(&Function::Iso) {
        return Err(LinkError::new(
            LinkErrorKind::Usage,
            "cannot write the packets of a virtual USB device",
            "isochronous packets are not traced",
        )
        .hint("remove --trace"));
    }
    if let Some(trace) = trace {
        machine.trace(trace);
    }
    let mut plugs = Vec::new();
    let count = plan.devices.max(1);
    let identity = Identity {
        vendor: plan.vendor,
        product: plan.product,
        name: config.name.clone(),
        serial: plan.serial.clone(),
        speed: plan.speed,
        functions: plan.functions.clone(),
        interval: plan.interval,
        report_bytes: plan.report_bytes,
    };
    if !identity.fits() {
        return Err(LinkError::new(
            LinkErrorKind::Usage,
            "cannot create a virtual USB device",
            "these functions need more than the fifteen endpoint numbers of a device",
        )
        .hint("use fewer functions (acm needs two endpoint numbers, the others one each)"));
    }
    for (port, number) in Port::attach(plan.speed, count)?.into_iter().zip(1..) {
        let mut identity = identity.clone();
        if count > 1 {
            identity.serial = format!("{}-{number}", plan.serial);
        }
        plugs.push(Plug {
            port: Some(port),
            serial: identity.serial.clone(),
            interfaces: identity.interface_count(),
            heard: Vec::new(),
            announced: false,
        });
        machine.add(identity, config.clone(), plan.device);
    }
    host::use_precise_timers();
    let mut buffer = vec![0; READ];
    let mut look_up_ns = 0;
    while !stop.load(Ordering::Relaxed)
        && !machine.is_trace_broken()
        && plugs.iter().any(|plug| plug.port.is_some())
    {
        let now = clock.now();
        machine.advance(now);
        for (number, plug) in plugs.iter_mut().enumerate() {
            let Some(port) = &plug.port else { continue };
            let sent = send(port, machine.answers(number));
            let gone = machine.is_gone(number) && machine.answers(number).is_empty();
            if !sent.map_err(|error| failed(&plug.serial, &error))? || gone {
                plug.port = None;
                on_event(ServeEvent::Left(&plug.serial));
            }
        }
        let announcing = plugs.iter().any(|plug| !plug.announced);
        if announcing && now >= look_up_ns {
            look_up_ns = now + LOOK_UP.as_nanos() as u64;
            for plug in plugs.iter_mut().filter(|plug| !plug.announced) {
                plug.announced = announce(plan, plug, now, on_event);
            }
        }
        let next = machine
            .next_ns()
            .map(|next| next.saturating_sub(clock.now()));
        let longest = if announcing { LOOK_UP } else { LOOK }.as_nanos() as u64;
        wait(&plugs, &mut machine, next.unwrap_or(longest).min(longest))
            .map_err(|error| failed("the virtual devices", &error))?;
        for (number, plug) in plugs.iter_mut().enumerate() {
            let heard = hear(plug, &mut buffer).map_err(|error| failed(&plug.serial, &error))?;
            let now = clock.now();
            let used = obey(number, &plug.heard, &mut machine, now).map_err(|said| {
                LinkError::new(LinkErrorKind::Protocol, doing(&plug.serial), said)
            })?;
            plug.heard.drain(..used);
            if !heard && plug.port.take().is_some() {
                on_event(ServeEvent::Left(&plug.serial));
            }
        }
    }
    machine.trace_until(clock.now());
    Ok(())
}

fn doing(serial: &str) -> String {
    format!("cannot serve the virtual USB device {serial}")
}

fn failed(serial: &str, error: &io::Error) -> LinkError {
    LinkError::from_io(doing(serial), error)
}

/// Sends what can be sent; false if the kernel has hung up.
fn send(port: &Port, answers: &mut Vec<u8>) -> io::Result<bool> {
    let mut sent = 0;
    let mut socket = port.socket();
    let hung_up = loop {
        if sent == answers.len() {
            break false;
        }
        match socket.write(&answers[sent..]) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_hang_up(&error) => break true,
            Err(error) => return Err(error),
        }
    };
    answers.drain(..sent);
    Ok(!hung_up)
}

/// Reads what the kernel has to say; false if it has hung up.
fn hear(plug: &mut Plug, buffer: &mut [u8]) -> io::Result<bool> {
    let Some(port) = &plug.port else {
        return Ok(false);
    };
    let mut socket = port.socket();
    loop {
        match socket.read(buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                plug.heard.extend_from_slice(&buffer[..count]);
                if count < buffer.len() {
                    return Ok(true);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_hang_up(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

fn is_hang_up(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(error.kind(), Kind::BrokenPipe | Kind::ConnectionReset)
}

/// Does all whole commands; returns how many bytes they were.
fn obey(number: usize, heard: &[u8], machine: &mut Machine, now: u64) -> Result<usize, String> {
    let mut used = 0;
    loop {
        match usbip::parse(&heard[used..]) {
            Ok(Some((command, length))) => {
                machine.command(number, command, now);
                used += length;
            }
            Ok(None) => return Ok(used),
            Err(malformed) => return Err(malformed.to_string()),
        }
    }
}

/// Waits until the kernel says something, takes what it did not take before, or time is up.
fn wait(plugs: &[Plug], machine: &mut Machine, nanoseconds: u64) -> io::Result<()> {
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(plugs.len());
    for (number, plug) in plugs.iter().enumerate() {
        if let Some(port) = &plug.port {
            let unsent = !machine.answers(number).is_empty();
            let wanted = if unsent {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            fds.push(PollFd::from_borrowed_fd(
                port.socket().as_fd(),
                wanted | PollFlags::IN,
            ));
        }
    }
    let timeout = Timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as i64,
        tv_nsec: (nanoseconds % 1_000_000_000) as i64,
    };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Tells where a device can be reached, as soon as it can; true when all is said.
fn announce(
    plan: &VirtualPlan,
    plug: &Plug,
    now_ns: u64,
    on_event: &(dyn Fn(ServeEvent<'_>) + Sync),
) -> bool {
    let Some(port) = &plug.port else { return true };
    let Some(device) = port.device(plug.interfaces) else {
        return false;
    };
    let ports = plan
        .functions
        .iter()
        .filter(|f| **f == Function::Acm || f.is_adapter())
        .count();
    let ttys = vhci::ttys_of(&device);
    let hids = plan.functions.iter().filter(|f| **f == Function::Hid);
    let (hids, is_late) = (hids.count(), now_ns >= DRIVER.as_nanos() as u64);
    if vhci::hidraws_of(&device) < hids && !is_late {
        return false;
    }
    if ttys.len() < ports && now_ns < DRIVER.as_nanos() as u64 {
        return false;
    }
    let tell = |address: &str| {
        on_event(ServeEvent::Ready {
            address,
            remote: false,
        });
    };
    for tty in &ttys {
        tell(&format!("serial:///dev/{tty}"));
    }
    let (vendor, product) = (plan.vendor, plan.product);
    if hids > 0 {
        tell(&format!("hid://{vendor:04x}:{product:04x}/{}", plug.serial));
    }
    if ports + hids < plan.functions.len() {
        tell(&format!("usb://{vendor:04x}:{product:04x}/{}", plug.serial));
    }
    true
}
