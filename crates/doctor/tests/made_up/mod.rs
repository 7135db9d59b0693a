//! A host that is made up: files beneath a temporary directory, linked as sysfs links them.

#![allow(dead_code, clippy::unwrap_used)]

pub mod windows;

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use wiregauge_doctor::{Change, Finding, HostContext, LINUX_CHECKS, Level, Target};
use wiregauge_record::{
    Connect, HostPlan, Limit, LinkOptions, Plan, Point, Protocol, Schedule, Wait,
};
use wiregauge_run::AnyRun;

/// Of a run without points.
pub fn plan(address: &str) -> Plan {
    Plan {
        address: address.into(),
        more_links: Vec::new(),
        protocol: Protocol::Wiregauge,
        queries: None,
        connect: Connect::Once,
        points: Vec::new(),
        limit: Limit::Count(100),
        warmup: 0,
        schedule: Schedule::AsFastAsPossible,
        timeout_ns: 1_000_000_000,
        give_up: 10,
        wait: Wait::Block,
        below_ns: Vec::new(),
        keep_data: false,
        batch: None,
        calibrate: false,
        host: HostPlan::default(),
        link: LinkOptions::default(),
    }
}

pub fn point(out_bytes: u32, in_bytes: u32) -> Point {
    Point {
        index: 0,
        out_bytes,
        in_bytes,
        depth: 1,
        link: 0,
        together: false,
    }
}

/// The host.
pub struct Host {
    root: TempDir,
}

impl Host {
    /// One without any files.
    pub fn new() -> Host {
        Host {
            root: tempfile::tempdir().unwrap(),
        }
    }

    /// Where an absolute path of it lies.
    pub fn place(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    /// A file with this text.
    pub fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Host {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
        self
    }

    /// A link to an absolute path of this host.
    pub fn link(&self, path: &str, to: &str) -> &Host {
        let (place, to) = (self.place(path), self.place(to));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, place).unwrap();
        self
    }

    /// A USB device, or a root hub (`usb1`), with these attributes; gives its real directory.
    pub fn usb(&self, name: &str, attributes: &[(&str, &str)]) -> String {
        let mut real = "/sys/devices/pci0000:00/0000:00:14.0".to_owned();
        let bus = name.trim_start_matches("usb").split('-').next().unwrap();
        real += &format!("/usb{bus}");
        if let Some((_, ports)) = name.split_once('-') {
            for (at, _) in ports.match_indices('.') {
                real += &format!("/{bus}-{}", &ports[..at]);
            }
            real += &format!("/{name}");
        }
        self.file(&format!("{real}/idVendor"), "2341\n");
        self.file(&format!("{real}/idProduct"), "0043\n");
        for (file, text) in attributes {
            self.file(&format!("{real}/{file}"), format!("{text}\n"));
        }
        self.link(&format!("/sys/bus/usb/devices/{name}"), &real);
        real
    }

    /// A tty that an interface of a USB device made, as ACM ports and serial adapters have it.
    pub fn usb_tty(&self, usb: &str, tty: &str, driver: &str) -> String {
        let interface = format!("{usb}/{}:1.0", usb.rsplit('/').next().unwrap());
        let (node, device) = match tty.starts_with("ttyUSB") {
            true => (
                format!("{interface}/{tty}/tty/{tty}"),
                format!("{interface}/{tty}"),
            ),
            false => (format!("{interface}/tty/{tty}"), interface.clone()),
        };
        self.file(&format!("{node}/dev"), "166:0\n");
        self.link(&format!("{node}/device"), &device);
        self.file(&format!("/sys/bus/drivers/{driver}/module"), "");
        self.link(
            &format!("{device}/driver"),
            &format!("/sys/bus/drivers/{driver}"),
        );
        self.link(&format!("/sys/class/tty/{tty}"), &node);
        interface
    }

    /// What one check finds with this target.
    #[track_caller]
    pub fn look(&self, check: &str, target: Target) -> Vec<Finding> {
        self.look_with(check, target, None)
    }

    /// The same with a run.
    #[track_caller]
    pub fn look_with(&self, check: &str, target: Target, run: Option<AnyRun>) -> Vec<Finding> {
        let found = LINUX_CHECKS.iter().find(|one| one.name == check);
        let context = HostContext::new(self.root.path(), target, run);
        let findings = (found.expect("a check of this name").look)(&context);
        for finding in &findings {
            assert_eq!(finding.check, check);
            hold(finding);
            for change in &finding.changes {
                assert!(change.path.starts_with("/sys") || change.path.starts_with("/proc/sys"));
            }
            for by_hand in Change::commands(&finding.changes) {
                assert!(finding.remedy.contains(&by_hand), "{finding:#?}");
            }
        }
        findings
    }

    /// The only thing that it finds.
    #[track_caller]
    pub fn only(&self, check: &str, target: Target) -> Finding {
        one(self.look(check, target))
    }

    #[track_caller]
    pub fn level(&self, check: &str, target: Target) -> Level {
        self.only(check, target).level
    }
}

/// The only one of these.
#[track_caller]
pub fn one(mut findings: Vec<Finding>) -> Finding {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

/// What holds for whatever a check finds.
#[track_caller]
pub fn hold(finding: &Finding) {
    let objects = matches!(finding.level, Level::Note | Level::Hurts);
    assert!(!finding.title.is_empty() && !finding.title.contains('\n'));
    assert!(finding.title.len() <= 100, "{} is long", finding.title);
    if objects {
        assert!(!finding.evidence.is_empty(), "{finding:#?}");
        let cost = finding.cost.as_ref().expect("what it costs");
        assert!(!cost.text.is_empty() && !cost.source.is_empty());
        assert!(!finding.remedy.is_empty(), "{finding:#?}");
    }
}

/// A tty as target.
pub fn tty(name: &str) -> Target {
    Target::Tty {
        path: Path::new("/dev").join(name),
    }
}

/// A USB device as target.
pub fn usb(name: &str) -> Target {
    Target::Usb { name: name.into() }
}

/// Holds that some evidence has this text in it.
#[track_caller]
pub fn hold_evidence(finding: &Finding, text: &str) {
    assert!(saw(finding, text), "no {text} in {finding:#?}");
}

/// Holds that the title has this text in it.
#[track_caller]
pub fn hold_title(finding: &Finding, text: &str) {
    assert!(finding.title.contains(text), "no {text} in {finding:#?}");
}

/// The values before and behind the first change.
pub fn first_change(finding: &Finding) -> (&str, &str) {
    let change = &finding.changes[0];
    (&change.from, &change.to)
}

/// True if some evidence has this text in it.
pub fn saw(finding: &Finding, text: &str) -> bool {
    finding.evidence.iter().any(|line| line.contains(text))
}
