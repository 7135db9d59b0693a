//! Which settings to measure for a better model: none that the plan, the link or the device refuses, and around those of
//! which a prediction was asked.

const K: u32 = 1024;

/// A setting of which a prediction was asked, as far as it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Bytes of a request.
    pub out_bytes: Option<u32>,
    /// Bytes of a response, or of a transfer.
    pub in_bytes: Option<u32>,
    /// The depth, or the queue.
    pub depth: Option<u32>,
}

/// A flag, the values to try, and which are possible.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values {
    pub(crate) flag: &'static str,
    pub(crate) list: &'static [u32],
    pub(crate) least: u32,
    pub(crate) most: u32,
}

impl Values {
    /// The flag with the values that are possible, and with powers of 2 around those that are wanted; `None` if
    /// only one value is possible.
    pub(crate) fn around(&self, wanted: impl Iterator<Item = u32>) -> Option<String> {
        let possible = self.least..=self.most;
        let mut values: Vec<u32> = self.list.to_vec();
        values.retain(|value| possible.contains(value));
        if values.len() == 1 {
            values.push(self.most);
        }
        for wanted in wanted {
            if values.iter().all(|value| *value < wanted) {
                let above = wanted.checked_next_power_of_two().unwrap_or(wanted);
                values.push(above.min(self.most));
            }
            if values.iter().all(|value| *value > wanted) {
                let below = 1 << wanted.max(1).ilog2();
                values.push(self.least.max(below));
            }
        }
        values.sort_unstable();
        values.dedup();
        (values.len() > 1).then(|| flag(self.flag, &values))
    }
}

/// The size of all requests of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// The size without the flag.
    pub(crate) default: u32,
    /// That of the run; `None` if it had several.
    pub(crate) of_run: Option<u32>,
    pub(crate) most: u32,
}

/// What can be measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tries {
    /// Where it is set apart from the sizes.
    pub(crate) request: Option<Request>,
    pub(crate) sizes: Option<Values>,
    /// True if a request has the size of its response.
    pub(crate) are_of_both: bool,
    pub(crate) depths: Values,
    /// What to propose if there is neither another size nor another depth.
    pub(crate) otherwise: &'static str,
    /// Around which settings.
    pub(crate) wanted: Vec<Wanted>,
}

impl Tries {
    /// What measures enough settings for a model.
    pub(crate) fn words(&self) -> String {
        let size = |wanted: &Wanted| match self.are_of_both {
            true => wanted.out_bytes.max(wanted.in_bytes),
            false => wanted.in_bytes,
        };
        let wanted = || self.wanted.iter();
        let sizes = self.sizes.as_ref();
        let sizes = sizes.and_then(|sizes| sizes.around(wanted().filter_map(size)));
        let depths = self.depths.around(wanted().filter_map(|one| one.depth));
        let flags: Vec<String> = sizes.into_iter().chain(depths).collect();
        if flags.is_empty() {
            return self.otherwise.into();
        }
        let all: Vec<String> = self.request_flag().into_iter().chain(flags).collect();
        format!("Try {}", all.join(" "))
    }

    fn request_flag(&self) -> Option<String> {
        let request = self.request.as_ref()?;
        let wanted = self.wanted.iter().filter_map(|wanted| wanted.out_bytes);
        let mut sizes: Vec<u32> = wanted.map(|bytes| bytes.min(request.most)).collect();
        if sizes.is_empty() {
            sizes.extend(request.of_run);
        }
        sizes.sort_unstable();
        sizes.dedup();
        let is_default = sizes.iter().all(|bytes| *bytes == request.default);
        (!is_default).then(|| flag("--out", &sizes))
    }
}

fn flag(name: &str, values: &[u32]) -> String {
    let values: Vec<String> = values.iter().map(|&value| size(value)).collect();
    format!("{name} {}", values.join(","))
}

/// A size as one writes it in a flag: 4k.
fn size(bytes: u32) -> String {
    match bytes % K {
        0 => format!("{}k", bytes / K),
        _ => bytes.to_string(),
    }
}
