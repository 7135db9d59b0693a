//! The threads of a gadget, from its connection to its removal.

use super::control::ControlDevice;
use super::functionfs::{self, Endpoints, Event, FunctionFs, Pair};
use super::pair::Ended;
use super::queue::Queue;
use super::setup::Setup;
use super::{pair, sync, tmc};
use crate::device::DeviceConfig;
use crate::event::ServeEvent;
use crate::gadget::{Function, GadgetPlan, Transfers};
use crate::platform::hid;
use crate::stream::serve_one;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use wiregauge_link::Address;
use wiregauge_link::host::{self, Clock};
use wiregauge_link::{LinkError, LinkErrorKind};
use wiregauge_record::LinkOptions;

/// How often the stop flag is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Transfers of a USBTMC reply queued at once.
const TMC_TRANSFERS: usize = 4;

type OnEvent<'a> = &'a (dyn Fn(ServeEvent<'_>) + Sync);

/// What the threads of a gadget share.
struct Shared<'a> {
    config: &'a DeviceConfig,
    transfers: Transfers,
    clock: Clock,
    /// Raised by the user, a failure or a device that left.
    stop: &'a AtomicBool,
    failure: Mutex<Option<LinkError>>,
    /// Counts what the host did to the configuration, so that threads that wait for it hear of it.
    changes: Mutex<u64>,
    changed: Condvar,
    tmc: tmc::Shared,
}

impl Shared<'_> {
    fn fail(&self, doing: &str, error: &io::Error) {
        let explained = LinkError::from_io(doing, error);
        let explained = match error.raw_os_error() {
            Some(libc::ENOMEM) => {
                explained.hint("use fewer or smaller transfers: --transfers queued=4")
            }
            Some(libc::EAGAIN) => explained.hint("raise fs.aio-max-nr (sysctl)"),
            _ => explained,
        };
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(explained);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn note_change(&self) {
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Waits for the host to do something, for a while.
    fn wait_for_change(&self) {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.changed.wait_timeout(changes, LOOK);
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Is a USB device until the stop flag is raised or the device leaves by itself.
pub fn serve(
    plan: &GadgetPlan,
    config: &DeviceConfig,
    clock: Clock,
    stop: &AtomicBool,
    on_event: OnEvent<'_>,
) -> Result<(), LinkError> {
    if let Some(adapter) = plan.functions.iter().find(|f| f.is_virtual_only()) {
        let name = adapter.name();
        return Err(LinkError::new(
            LinkErrorKind::Usage,
            "cannot create the USB gadget",
            format!("usb-gadget has no function {name}"),
        )
        .hint(format!("use wiregauge serve usb-virtual --function {name}")));
    }
    let endpoints: Vec<Endpoints> = plan
        .functions
        .iter()
        .filter_map(|function| match function {
            Function::Bulk => Some(Endpoints::Bulk),
            Function::Interrupt => Some(Endpoints::Interrupt),
            Function::Tmc => Some(Endpoints::Tmc),
            Function::Acm | Function::Hid => None,
            // Refused above.
            Function::Ftdi | Function::Cp210x | Function::Ch341 | Function::Iso => None,
        })
        .collect();
    let setup = Setup::make(plan, &endpoints)?;
    // A raised flag of the user's must end the threads; a failure of theirs is not the user's.
    let over = AtomicBool::new(false);
    let shared = Shared {
        config,
        transfers: plan.transfers,
        clock,
        stop: &over,
        failure: Mutex::new(None),
        changes: Mutex::new(0),
        changed: Condvar::new(),
        tmc: tmc::Shared::default(),
    };
    let connected = run(plan, &setup, &endpoints, &shared, stop, on_event);
    let removed = setup.remove();
    connected?;
    match shared.failure.into_inner() {
        Ok(None) => removed,
        Ok(Some(failure)) => Err(failure),
        Err(_) => removed,
    }
}

fn run(
    plan: &GadgetPlan,
    setup: &Setup,
    endpoints: &[Endpoints],
    shared: &Shared<'_>,
    stop: &AtomicBool,
    on_event: OnEvent<'_>,
) -> Result<(), LinkError> {
    let pairs: Vec<Pair> = match &setup.functions {
        Some(functions) => (0..endpoints.len())
            .map(|index| functions.open_pair(index))
            .collect::<io::Result<_>>()
            .map_err(|error| LinkError::from_io("cannot open the gadget's endpoints", &error))?,
        None => Vec::new(),
    };
    setup.connect()?;
    let hids = setup.hid_files().map_err(|error| {
        LinkError::from_io("cannot find the files of the HID function", &error)
            .hint("the kernel makes /dev/hidg0: is devtmpfs mounted at /dev?")
    })?;
    std::thread::scope(|scope| {
        if let Some(functions) = &setup.functions {
            scope.spawn(move || watch(functions, setup, shared, on_event));
        }
        for (pair, &endpoints) in pairs.iter().zip(endpoints) {
            scope.spawn(move || look_after(pair, endpoints, shared));
        }
        for tty in &setup.ttys {
            scope.spawn(move || serve_tty(tty, shared));
        }
        for hid in &hids {
            scope.spawn(move || serve_hid(hid, plan.report_bytes, shared));
        }
        if !hids.is_empty() {
            on_event(ServeEvent::Ready {
                address: &format!("hid://{:04x}:{:04x}", plan.vendor, plan.product),
                remote: false,
            });
        }
        if let Some(first) = endpoints.first() {
            let scheme = match first {
                Endpoints::Tmc => "usbtmc",
                Endpoints::Bulk | Endpoints::Interrupt => "usb",
            };
            on_event(ServeEvent::Ready {
                address: &format!("{scheme}://{:04x}:{:04x}", plan.vendor, plan.product),
                remote: false,
            });
        }
        for tty in &setup.ttys {
            on_event(ServeEvent::Ready {
                address: &format!("serial://{}", tty.display()),
                remote: false,
            });
        }
        while !stop.load(Ordering::Relaxed) && !shared.is_over() {
            std::thread::sleep(LOOK);
        }
        shared.stop.store(true, Ordering::Relaxed);
        // What the threads wait for ends with this.
        setup.disconnect();
    });
    Ok(())
}

/// Endpoint 0: tells of hosts that come and leave, and answers their requests.
fn watch(functions: &FunctionFs, setup: &Setup, shared: &Shared<'_>, on_event: OnEvent<'_>) {
    let mut host: Option<String> = None;
    let mut control = ControlDevice::new(shared.config, shared.clock);
    host::use_precise_timers();
    while !shared.is_over() {
        match functions.event(LOOK) {
            Ok(None | Some(Event::Other)) => {}
            Ok(Some(Event::Request(setup))) => {
                match carry(&mut control, functions, setup, shared) {
                    Ok(true) if control.is_gone() => shared.stop.store(true, Ordering::Relaxed),
                    Ok(true) => {}
                    Ok(false) => functions.refuse(setup),
                    Err(error) => shared.fail("cannot answer a USB control request", &error),
                }
            }
            Ok(Some(Event::Enabled)) => {
                control.reset();
                let came = format!("a host at {} ({})", setup.controller(), setup.speed());
                if host.as_ref() != Some(&came) {
                    on_event(ServeEvent::Came(&came));
                    host = Some(came);
                }
                shared.note_change();
            }
            Ok(Some(Event::Disabled)) => {
                if let Some(left) = host.take() {
                    on_event(ServeEvent::Left(&left));
                }
            }
            Err(error) => shared.fail("cannot read USB endpoint 0", &error),
        }
    }
}

/// Carries a request on endpoint 0 out; false if no function knows it.
fn carry(
    control: &mut ControlDevice,
    functions: &FunctionFs,
    setup: functionfs::Setup,
    shared: &Shared<'_>,
) -> io::Result<bool> {
    if functions.is_tmc() {
        return shared.tmc.carry(functions, setup, shared.config.protocol);
    }
    control.carry(functions, setup)
}

/// One vendor interface: a device for each time that a host configures it.
fn look_after(pair: &Pair, endpoints: Endpoints, shared: &Shared<'_>) {
    host::use_precise_timers();
    while !shared.is_over() {
        let ended = match pair.packet() {
            Ok(None) => {
                shared.wait_for_change();
                continue;
            }
            Ok(Some(packet)) => converse(pair, endpoints, packet, shared),
            Err(error) => Err(error),
        };
        match ended {
            // The kernel may still say for a moment that the endpoints are on.
            Ok(Ended::HostLeft) => shared.wait_for_change(),
            Ok(Ended::Stopped) => {}
            Ok(Ended::DeviceLeft) => shared.stop.store(true, Ordering::Relaxed),
            Err(error) => shared.fail("cannot transfer data over USB endpoints", &error),
        }
    }
}

fn converse(
    pair: &Pair,
    endpoints: Endpoints,
    packet: usize,
    shared: &Shared<'_>,
) -> io::Result<Ended> {
    let (config, clock, stop) = (shared.config, shared.clock, shared.stop);
    match shared.transfers {
        _ if endpoints == Endpoints::Tmc => {
            let (in_, out) = (pair.in_.try_clone()?, pair.out.try_clone()?);
            let queue = Queue::new(in_, out, TMC_TRANSFERS)?;
            tmc::converse(queue, packet, (config, clock), &shared.tmc, stop)
        }
        Transfers::Sync => sync::converse(pair, packet, config, clock, stop),
        Transfers::Queued(length) => {
            let (in_, out) = (pair.in_.try_clone()?, pair.out.try_clone()?);
            let queue = Queue::new(in_, out, length as usize)?;
            pair::converse(queue, packet, config, clock, stop)
        }
    }
}

/// A HID function, for all hosts that come.
fn serve_hid(path: &Path, report_bytes: u16, shared: &Shared<'_>) {
    let device = (shared.config, report_bytes);
    match hid::serve_hidg(path, device, shared.clock, shared.stop) {
        Ok(_) => shared.stop.store(true, Ordering::Relaxed),
        Err(error) => shared.fail("cannot transfer HID reports", &error),
    }
}

/// A serial port: opened again whenever a host has hung it up.
fn serve_tty(tty: &Path, shared: &Shared<'_>) {
    let address = format!("serial://{}", tty.display());
    let options = LinkOptions {
        baud: None,
        ..LinkOptions::default()
    };
    while !shared.is_over() {
        let opened = Address::parse(&address).and_then(|address| address.open(&options, LOOK));
        match opened {
            Ok(mut link) => {
                // How a host leaves is no failure of the device.
                let _ = serve_one(
                    link.as_mut(),
                    shared.config,
                    shared.clock,
                    None,
                    shared.stop,
                );
            }
            Err(error) if error.kind() == LinkErrorKind::Busy => {
                let mut failure = shared
                    .failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
                shared.stop.store(true, Ordering::Relaxed);
            }
            Err(_) => {}
        }
        if !shared.is_over() {
            std::thread::sleep(LOOK);
        }
    }
}
