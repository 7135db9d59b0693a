//! How much of each frame is used, and by which endpoint.

/// What a packet, or a transaction, used the wire for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Data,
    Nak,
    StartOfFrame,
    Other,
}

/// Time on the wire.
#[derive(Debug, Default)]
pub(crate) struct Use {
    by_purpose: [u64; 4],
    by_endpoint: Vec<(usize, u64)>,
}

impl Use {
    /// For this purpose.
    pub(crate) fn of(&self, purpose: Purpose) -> u64 {
        self.by_purpose[purpose as usize]
    }

    /// Of this endpoint.
    pub(crate) fn of_endpoint(&self, at: usize) -> u64 {
        let of = self.by_endpoint.iter().find(|(known, _)| *known == at);
        of.map_or(0, |(_, ns)| *ns)
    }

    /// For all purposes.
    pub(crate) fn whole(&self) -> u64 {
        self.by_purpose.iter().sum()
    }

    fn add(&mut self, purpose: Purpose, endpoint: Option<usize>, ns: u64) {
        let of = &mut self.by_purpose[purpose as usize];
        *of = of.saturating_add(ns);
        if let Some(endpoint) = endpoint {
            self.add_endpoint(endpoint, ns);
        }
    }

    fn add_endpoint(&mut self, endpoint: usize, ns: u64) {
        match self
            .by_endpoint
            .iter_mut()
            .find(|(known, _)| *known == endpoint)
        {
            Some((_, used)) => *used = used.saturating_add(ns),
            None => self.by_endpoint.push((endpoint, ns)),
        }
    }

    fn add_all(&mut self, other: &Use) {
        for (of, ns) in self.by_purpose.iter_mut().zip(other.by_purpose) {
            *of = of.saturating_add(ns);
        }
        for (endpoint, ns) in &other.by_endpoint {
            self.add_endpoint(*endpoint, *ns);
        }
    }
}

/// The use of a frame that has begun, and of those that are over: of a frame that is cut, neither the packets nor the
/// time count.
#[derive(Debug)]
pub(crate) struct FrameUse {
    nominal_ns: u64,
    /// True if starts of frame are in the capture; frames of the nominal length are counted otherwise.
    marked: bool,
    begin_ns: Option<u64>,
    begun: Use,
    over: Use,
    frames: u64,
    total_ns: u64,
    busiest: f64,
}

/// A share of an endpoint in a frame that is over.
pub(crate) type Share = (usize, f64);

impl FrameUse {
    pub(crate) fn new(nominal_ns: u64, marked: bool) -> FrameUse {
        FrameUse {
            nominal_ns,
            marked,
            begin_ns: None,
            begun: Use::default(),
            over: Use::default(),
            frames: 0,
            total_ns: 0,
            busiest: 0.0,
        }
    }

    /// Frames that are over.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// The use of whole frames and their length; of the frame that was cut where none is over.
    pub(crate) fn counted(&self) -> (&Use, Option<u64>) {
        match self.total_ns {
            0 => (&self.begun, None),
            ns => (&self.over, Some(ns)),
        }
    }

    /// The largest share of a frame that was used.
    pub(crate) fn busiest(&self) -> f64 {
        self.busiest
    }

    /// A start of frame.
    pub(crate) fn mark(&mut self, at_ns: u64, each: &mut dyn FnMut(Share)) {
        if self.marked {
            self.end(at_ns, each);
            self.begin_ns = Some(at_ns);
        }
    }

    /// Ends the frames that are over at this time, where none are marked.
    pub(crate) fn pass(&mut self, at_ns: u64, each: &mut dyn FnMut(Share)) {
        if self.marked {
            return;
        }
        let begin = *self.begin_ns.get_or_insert(at_ns);
        let passed = at_ns.saturating_sub(begin) / self.nominal_ns;
        if passed > 0 {
            self.end(begin + self.nominal_ns, each);
            self.frames += passed - 1;
            self.total_ns += (passed - 1) * self.nominal_ns;
            self.begin_ns = Some(begin + passed * self.nominal_ns);
        }
    }

    /// Time on the wire in the frame that has begun.
    pub(crate) fn add(&mut self, purpose: Purpose, endpoint: Option<usize>, ns: u64) {
        self.begun.add(purpose, endpoint, ns);
    }

    fn end(&mut self, at_ns: u64, each: &mut dyn FnMut(Share)) {
        let used = std::mem::take(&mut self.begun);
        let Some(begin) = self.begin_ns else { return };
        self.over.add_all(&used);
        let length = at_ns.saturating_sub(begin);
        self.frames += 1;
        self.total_ns += length;
        // Where a start of frame is missing, the frame is longer; where the clock jumps, shorter.
        let share = |ns: u64| ns as f64 / length.max(self.nominal_ns) as f64;
        self.busiest = self.busiest.max(share(used.whole()));
        for (endpoint, ns) in used.by_endpoint {
            each((endpoint, share(ns)));
        }
    }
}
