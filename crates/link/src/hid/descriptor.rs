//! The report descriptor of a HID device (HID 1.11, 6.2.2): which reports it has, and how long they are. What a device
//! sends is untrusted: sizes, numbers and nesting are bounded.

use std::fmt;

/// The largest descriptor that Linux accepts (HID_MAX_DESCRIPTOR_SIZE).
const LONGEST: usize = 4096;

/// The largest report that Linux accepts, with its number (HID_MAX_BUFFER_SIZE).
const LARGEST_REPORT: u64 = 16_384;

/// Nested Push items.
const DEEPEST: usize = 32;

/// Usage pages from here on are the vendor's own (HID Usage Tables, 3).
const VENDOR_PAGES: u16 = 0xff00;

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportKind {
    /// From the device.
    Input,
    /// To the device.
    Output,
    /// Either way, through the control endpoint.
    Feature,
}

impl ReportKind {
    /// Its name in the specification.
    pub fn name(self) -> &'static str {
        match self {
            ReportKind::Input => "input",
            ReportKind::Output => "output",
            ReportKind::Feature => "feature",
        }
    }
}

/// One report of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which way it goes.
    pub kind: ReportKind,
    /// Its number; 0 where reports have none.
    pub id: u8,
    /// Bytes of its content, without the number.
    pub bytes: usize,
}

/// What a report descriptor says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// True if each report begins with its number.
    pub numbered: bool,
    /// All reports, by kind and number.
    pub list: Vec<Report>,
    /// Usage page and usage of the first top-level collection.
    pub usage: (u16, u16),
}

impl Reports {
    /// True if the device is of its maker's own kind, and not a keyboard, mouse or the like.
    pub fn is_vendor(&self) -> bool {
        self.usage.0 >= VENDOR_PAGES
    }

    /// The reports of a kind.
    pub fn of(&self, kind: ReportKind) -> impl Iterator<Item = &Report> {
        self.list.iter().filter(move |report| report.kind == kind)
    }
}

impl fmt::Display for Reports {
    /// `input 64 B, output 64 B`, with numbers `input 1: 64 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list.is_empty() {
            return f.write_str("no reports");
        }
        for (at, report) in self.list.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let (kind, bytes) = (report.kind.name(), report.bytes);
            match self.numbered {
                true => write!(f, "{comma}{kind} {}: {bytes} B", report.id)?,
                false => write!(f, "{comma}{kind} {bytes} B")?,
            }
        }
        Ok(())
    }
}

/// Items that hold until they are changed (HID 1.11, 6.2.2.7).
#[derive(Clone, Copy, Default)]
struct Globals {
    usage_page: u16,
    report_size: u32,
    report_count: u32,
    id: u8,
}

/// Reads a report descriptor; the error says what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Reports, String> {
    if bytes.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} B"));
    }
    let mut reports = Reports::default();
    let mut bits: Vec<(ReportKind, u8, u64)> = Vec::new();
    let (mut globals, mut pushed) = (Globals::default(), Vec::new());
    let mut usage = None;
    let mut has_collection = false;
    let mut rest = bytes;
    while let Some((&prefix, after)) = rest.split_first() {
        if prefix == LONG_ITEM {
            // Reserved by the specification: skipped.
            let length = usize::from(*after.first().ok_or("it ends within an item")?);
            rest = after.get(2 + length..).ok_or("it ends within an item")?;
            continue;
        }
        let length = [0, 1, 2, 4][usize::from(prefix & 3)];
        let data = after.get(..length).ok_or("it ends within an item")?;
        rest = &after[length..];
        let mut padded = [0; 4];
        padded[..length].copy_from_slice(data);
        let value = u32::from_le_bytes(padded);
        match prefix & !3 {
            INPUT => add(&mut bits, ReportKind::Input, &globals)?,
            OUTPUT => add(&mut bits, ReportKind::Output, &globals)?,
            FEATURE => add(&mut bits, ReportKind::Feature, &globals)?,
            COLLECTION if !has_collection => {
                has_collection = true;
                let usage: u32 = usage.unwrap_or(0);
                // A usage of four bytes brings its own page.
                reports.usage = match usage >> 16 {
                    0 => (globals.usage_page, usage as u16),
                    page => (page as u16, usage as u16),
                };
            }
            USAGE_PAGE => globals.usage_page = value as u16,
            REPORT_SIZE => globals.report_size = value,
            REPORT_COUNT => globals.report_count = value,
            REPORT_ID => {
                globals.id = u8::try_from(value)
                    .ok()
                    .filter(|id| *id > 0)
                    .ok_or_else(|| format!("report number {value} is not valid (1 to 255)"))?;
                reports.numbered = true;
            }
            PUSH if pushed.len() < DEEPEST => pushed.push(globals),
            PUSH => return Err("too many nested Push items".into()),
            POP => globals = pushed.pop().ok_or("a Pop item without a Push item")?,
            USAGE => usage = usage.or(Some(value)),
            _ => {}
        }
        let is_main = prefix & 0x0c == 0;
        if is_main {
            usage = None;
        }
    }
    bits.sort_by_key(|(kind, id, _)| (*kind, *id));
    reports.list = bits
        .into_iter()
        .map(|(kind, id, bits)| Report {
            kind,
            id,
            bytes: bits.div_ceil(8) as usize,
        })
        .filter(|report| report.bytes > 0)
        .collect();
    Ok(reports)
}

// Prefixes of items without their size (HID 1.11, 6.2.2.4, 6.2.2.7, 6.2.2.8).
const INPUT: u8 = 0x80;
const OUTPUT: u8 = 0x90;
const FEATURE: u8 = 0xb0;
const COLLECTION: u8 = 0xa0;
const USAGE_PAGE: u8 = 0x04;
const REPORT_SIZE: u8 = 0x74;
const REPORT_ID: u8 = 0x84;
const REPORT_COUNT: u8 = 0x94;
const PUSH: u8 = 0xa4;
const POP: u8 = 0xb4;
const USAGE: u8 = 0x08;
const LONG_ITEM: u8 = 0xfe;

/// Adds the fields of a main item to its report.
fn add(
    bits: &mut Vec<(ReportKind, u8, u64)>,
    kind: ReportKind,
    globals: &Globals,
) -> Result<(), String> {
    let more = u64::from(globals.report_size) * u64::from(globals.report_count);
    let at = bits
        .iter()
        .position(|&(k, id, _)| (k, id) == (kind, globals.id));
    let at = at.unwrap_or_else(|| {
        bits.push((kind, globals.id, 0));
        bits.len() - 1
    });
    let all = bits[at].2.saturating_add(more);
    if all > 8 * LARGEST_REPORT {
        return Err(format!(
            "the {} report {} is larger than {LARGEST_REPORT} B",
            kind.name(),
            globals.id
        ));
    }
    bits[at].2 = all;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vendor page 0xff00, usage 1, 64 B in and out: what raw HID boards have.
    const RAW: &[u8] = &[
        0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0x15, 0x00, 0x26, 0xff, 0x00, 0x75, 0x08, 0x95,
        0x40, 0x09, 0x01, 0x81, 0x02, 0x09, 0x01, 0x91, 0x02, 0xc0,
    ];

    /// The keyboard of HID 1.11, appendix B.1.
    const KEYBOARD: &[u8] = &[
        0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0x05, 0x07, 0x19, 0xe0, 0x29, 0xe7, 0x15, 0x00, 0x25,
        0x01, 0x75, 0x01, 0x95, 0x08, 0x81, 0x02, 0x95, 0x01, 0x75, 0x08, 0x81, 0x01, 0x95, 0x05,
        0x75, 0x01, 0x05, 0x08, 0x19, 0x01, 0x29, 0x05, 0x91, 0x02, 0x95, 0x01, 0x75, 0x03, 0x91,
        0x01, 0x95, 0x06, 0x75, 0x08, 0x15, 0x00, 0x25, 0x65, 0x05, 0x07, 0x19, 0x00, 0x29, 0x65,
        0x81, 0x00, 0xc0,
    ];

    #[test]
    fn the_reports_of_a_raw_hid_board_have_their_sizes() {
        let reports = parse(RAW).unwrap();
        assert_eq!(reports.to_string(), "input 64 B, output 64 B");
        assert_eq!((reports.usage, reports.numbered), ((0xff00, 1), false));
        assert!(reports.is_vendor());
    }

    #[test]
    fn the_keyboard_of_the_specification_has_8_bytes_in_and_1_out() {
        let reports = parse(KEYBOARD).unwrap();
        assert_eq!(reports.to_string(), "input 8 B, output 1 B");
        assert_eq!(reports.usage, (1, 6));
        assert!(!reports.is_vendor());
    }

    #[test]
    fn numbered_reports_are_told_apart() {
        let descriptor = [
            0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0x75, 0x08, 0x85, 0x02, 0x95, 0x10, 0x81,
            0x02, 0x85, 0x01, 0xa4, 0x95, 0x20, 0x91, 0x02, 0xb4, 0xb1, 0x02, 0xc0,
        ];
        let reports = parse(&descriptor).unwrap();
        assert!(reports.numbered);
        let found = reports.to_string();
        assert_eq!(found, "input 2: 16 B, output 1: 32 B, feature 1: 16 B");
    }

    #[test]
    fn what_is_damaged_or_too_large_is_refused() {
        for (descriptor, said) in [
            (&[0x06, 0x00][..], "ends within an item"),
            (&[0xfe][..], "ends within an item"),
            (&[0x85, 0x00][..], "report number 0"),
            (&[0xb4][..], "Pop item"),
            (&[0xa4; 40][..], "nested Push"),
            (
                &[
                    0x77, 0xff, 0xff, 0xff, 0xff, 0x97, 0xff, 0xff, 0xff, 0xff, 0x81, 2,
                ][..],
                "larger than",
            ),
            (&[0; 5000][..], "longer than"),
        ] {
            let error = parse(descriptor).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        assert_eq!(parse(&[]).unwrap().to_string(), "no reports");
    }
}
