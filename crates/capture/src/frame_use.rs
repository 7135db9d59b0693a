//! How much of each frame is used, and by which endpoint.

/// The use of a frame that has begun, and what is known of those before.
#[derive(Debug)]
pub(crate) struct FrameUse {
    nominal_ns: u64,
    /// True if starts of frame are in the capture; frames of the nominal length are counted otherwise.
    marked: bool,
    begin_ns: Option<u64>,
    used_ns: u64,
    by_endpoint: Vec<(usize, u64)>,
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
            used_ns: 0,
            by_endpoint: Vec::new(),
            frames: 0,
            total_ns: 0,
            busiest: 0.0,
        }
    }

    /// Frames that are over.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Their length together.
    pub(crate) fn total_ns(&self) -> u64 {
        self.total_ns
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
    pub(crate) fn add(&mut self, endpoint: Option<usize>, ns: u64) {
        if self.begin_ns.is_none() {
            return;
        }
        self.used_ns += ns;
        let Some(endpoint) = endpoint else { return };
        match self
            .by_endpoint
            .iter_mut()
            .find(|(known, _)| *known == endpoint)
        {
            Some((_, used)) => *used += ns,
            None => self.by_endpoint.push((endpoint, ns)),
        }
    }

    fn end(&mut self, at_ns: u64, each: &mut dyn FnMut(Share)) {
        let (used, by_endpoint) = (
            std::mem::take(&mut self.used_ns),
            std::mem::take(&mut self.by_endpoint),
        );
        let Some(begin) = self.begin_ns else { return };
        let length = at_ns.saturating_sub(begin);
        self.frames += 1;
        self.total_ns += length;
        // Where a start of frame is missing, the frame is longer; where the clock jumps, shorter.
        let share = |ns: u64| ns as f64 / length.max(self.nominal_ns) as f64;
        self.busiest = self.busiest.max(share(used));
        for (endpoint, ns) in by_endpoint {
            each((endpoint, share(ns)));
        }
    }
}
