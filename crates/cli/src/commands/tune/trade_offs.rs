//! The trade-offs of latency and throughput that were measured, and a probe that was better than the chosen
//! setting.

use super::found::Found;
use super::task::Kind;
use wiregauge_record::{Carried, Direction, Figure, Part, Times};
use wiregauge_stats::Estimate;
use wiregauge_tune::Candidate;

/// A measured setting.
pub struct Row {
    /// The setting.
    pub at: Candidate,
    /// Mean time of one.
    pub latency: Estimate,
    /// Its 99th percentile.
    pub latency_p99: Option<Estimate>,
    /// The objective.
    pub objective: Option<f64>,
    /// Bytes a second, both ways.
    pub rate: f64,
    /// Bytes a second in the direction of the objective.
    pub carried: f64,
    /// Exchanges (transfers) a second.
    pub per_second: f64,
    /// True of the choice.
    pub is_best: bool,
    /// True of the knee.
    pub is_knee: bool,
    /// True of the best setting with its ways to wait and to connect, where several were searched.
    pub is_best_of_method: bool,
    /// Exchanges (transfers) behind the figures.
    pub n: u64,
    /// True if the figures are those of a confirming run, false if they are those of a search probe.
    pub confirmed: bool,
}

impl Row {
    /// Throughput over latency; of a device whose requests carry no payload, exchanges over latency.
    fn power(&self) -> f64 {
        let throughput = match self.rate > 0.0 {
            true => self.rate,
            false => self.per_second,
        };
        throughput / self.latency.value
    }
}

impl Found {
    /// The direction in which the objective counts bytes.
    pub fn carried(&self) -> Carried {
        match (self.task.figure, &self.task.kind) {
            (Figure::Rate(carried), _) => carried,
            (_, Kind::Stream(of)) => match of.direction {
                Direction::In => Carried::In,
                Direction::Out => Carried::Out,
                Direction::Both => Carried::Both,
            },
            _ => Carried::Both,
        }
    }

    /// The settings that nothing else measured beats in both latency and throughput, the chosen one, and the best of each
    /// way to wait and to connect; from the shortest latency on.
    pub fn rows(&self) -> Vec<Row> {
        let settings = self.settings().into_iter();
        let mut rows: Vec<Row> = settings.filter_map(|at| self.row(at)).collect();
        rows.sort_by(|a, b| a.latency.value.total_cmp(&b.latency.value));
        let method = |row: &Row| (row.at.wait, row.at.connect);
        let several = rows.iter().any(|row| method(row) != method(&rows[0]));
        let is_best_of_method = |row: &Row| {
            let mut others = rows.iter().filter(|other| method(other) == method(row));
            let is_worse = |there: f64| match row.objective {
                Some(here) => !self.task.sense.prefers(there, here),
                None => false,
            };
            several && others.all(|other| other.objective.is_none_or(is_worse))
        };
        let marks: Vec<bool> = rows.iter().map(is_best_of_method).collect();
        for (row, mark) in rows.iter_mut().zip(marks) {
            row.is_best_of_method = mark;
        }
        let knee = (rows.iter_mut()).max_by(|a, b| a.power().total_cmp(&b.power()));
        if let Some(knee) = knee {
            knee.is_knee = true;
        }
        let mut most = 0.0;
        rows.retain(|row| {
            let is_more = row.carried > most;
            most = row.carried.max(most);
            is_more || row.is_best || row.is_best_of_method
        });
        rows
    }

    /// What the confirming run of a setting gave, or else its longest probe.
    fn row(&self, at: Candidate) -> Option<Row> {
        let times = match self.task.kind {
            Kind::Exchanges(_) => Times::Rtt,
            Kind::Stream(_) => Times::Transfer,
        };
        let (taken, confirmed) = self.longest(&at)?;
        let value = |figure: Figure| Some(taken.figure(figure)?.value);
        Some(Row {
            at,
            latency: taken.figure(Figure::Time(times, Part::Mean))?,
            latency_p99: taken.figure(Figure::Time(times, Part::P99)),
            objective: value(self.task.figure),
            rate: value(Figure::Rate(Carried::Both))?,
            carried: value(Figure::Rate(self.carried()))?,
            per_second: value(Figure::Exchanges).unwrap_or(0.0),
            is_best: self.advice.best.as_ref().is_some_and(|best| best.at == at),
            is_knee: false,
            is_best_of_method: false,
            n: taken.n(),
            confirmed,
        })
    }

    /// The probe with the best objective, if it is better than that of the chosen setting and met all constraints.
    pub fn better_in_probe<'a>(&self, rows: &'a [Row]) -> Option<&'a Row> {
        let sense = self.task.sense;
        let chosen = rows.iter().find(|row| row.is_best)?.objective?;
        let probes = rows.iter().filter(|row| !row.confirmed);
        let probes = probes.filter(|row| self.keeps(&row.at));
        let probes = probes.filter_map(|row| Some((row, row.objective?)));
        let (row, best) = probes.reduce(|a, b| match sense.prefers(b.1, a.1) {
            true => b,
            false => a,
        })?;
        sense.prefers(best, chosen).then_some(row)
    }
    /// What keeps the choice from being better, in words; nothing where a probe seemed to be better.
    pub fn reasons(&self, rows: &[Row]) -> Vec<String> {
        let constraints = self.task.constraints.iter();
        let constraints: Vec<&str> = constraints.map(|one| one.text.as_str()).collect();
        let why = self.advice.why.iter().map(|why| why.words(&constraints));
        match self.better_in_probe(rows) {
            Some(_) => Vec::new(),
            None => why.collect(),
        }
    }
}
