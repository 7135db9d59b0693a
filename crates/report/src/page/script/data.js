// The data of the interactive figures: columns unpacked, and the selections of points that a figure offers.

const source = document.getElementById("data");
const data = source && typeof uPlot !== "undefined" ? JSON.parse(source.textContent) : { runs: [], dashes: [], colours: 1 };
const keyOf = (point) => point.size + ", " + point.depth;
const COLOURS = data.colours;
// More lines than colours cannot be distinguished.
const MOST = COLOURS;

// Columns are stored as steps, values as whole numbers of `unit`: here they become nanoseconds.
function unpacked(point) {
  if (point.ready) return point.ready;
  const running = (steps) => {
    let sum = 0;
    return steps.map((step) => (sum += step) * point.tick);
  };
  const low = point.low.map((value) => (value === null ? null : value * point.unit));
  const above = (steps) => steps.map((step, i) => (low[i] === null ? null : low[i] + step * point.unit));
  point.ready = {
    at: running(point.at), low, mean: above(point.mean), high: above(point.high),
    longest: [running(point.longest[0]), point.longest[1].map((value) => value * point.unit)],
    bad: [running(point.bad[0]), point.bad[1]],
    shortest: (point.percentiles.values[0] || 0) * point.unit,
  };
  return point.ready;
}

// The vertices of a percentile curve: places in nines, values in nanoseconds.
function percentileLine(packed, unit) {
  let sum = 0;
  return {
    at: packed.at.map((step) => (sum += step) / data.parts), values: packed.values.map((value) => value * unit),
    stepped: packed.stepped,
  };
}

// The percentile curves of a point. With a schedule there are two, as in the drawn figure.
function curvesOf({ point, run, label }) {
  const rtt = { label, of: point.of, line: percentileLine(point.percentiles, point.unit) };
  if (!point.intended) return [rtt];
  return [
    { ...rtt, label: label + ", " + run.what },
    { ...rtt, label: label + ", from the intended start", line: percentileLine(point.intended, point.unit) },
  ];
}

// The edges of bins in nanoseconds and what each holds: `wide` stored bins make one, an empty one ends the bin before it.
function binned(point, wide) {
  const edges = [];
  const counts = [];
  const edge = (bin) => Math.pow(10, (bin * wide) / data.bins);
  const close = (bin, count) => {
    edges.push(edge(bin));
    counts.push(count);
  };
  let [stored, all] = point.bins;
  let open = null;
  for (const count of all) {
    if (count < 0) {
      stored -= count;
      continue;
    }
    const bin = Math.floor(stored / wide);
    if (bin === open) {
      counts[counts.length - 1] += count;
    } else {
      if (open !== null && bin > open + 1) close(open + 1, 0);
      close(bin, count);
      open = bin;
    }
    stored += 1;
  }
  if (open !== null) close(open + 1, 0);
  return { edges, counts };
}

// How many stored bins make one of a histogram: the fewer samples, the wider, as in the drawn ones.
function widthOfBins(samples) {
  const aDecade = samples < 1000 ? 25 : samples < 10000 ? 50 : samples < 100000 ? 100 : data.bins;
  return Math.max(1, Math.round(data.bins / aDecade));
}

// What can be selected in a figure: a point of all runs at once; of one run, a point or a row of the sweep.
function offered(kind, runs) {
  const several = runs.length > 1;
  const options = [];
  const all = runs.flatMap((run) => run.points.map((point) => ({ run, point, label: several ? run.label + ": " + keyOf(point) : keyOf(point) })));
  if (!kind.one && all.length > 1 && all.length <= MOST) options.push({ text: "all points", members: all });
  if (several && !kind.one) {
    const keys = [...new Set(runs.flatMap((run) => run.points.map(keyOf)))];
    for (const key of keys) {
      const members = runs.flatMap((run) => run.points.filter((point) => keyOf(point) === key)
        .map((point) => ({ run, point, label: run.label })));
      options.push({ text: key, members });
    }
  } else {
    for (const run of runs) {
      const rows = (same, differs, all) => {
        for (const value of new Set(run.points.map((point) => point[same]))) {
          const points = run.points.filter((point) => point[same] === value);
          if (points.length < 2 || points.length === all.length && all.length <= MOST) continue;
          options.push({ text: value + ", " + all, members: points.map((point) => ({ run, point, label: point[differs] })) });
        }
      };
      if (!kind.one) {
        const what = { stream: ["queues", "sizes"], loop: ["blocks", "rates"] }[run.kind] || ["depths", "sizes"];
        rows("size", "depth", "several " + what[0]);
        rows("depth", "size", "several " + what[1]);
      }
      for (const point of run.points) {
        const text = several ? run.label + ": " + keyOf(point) : keyOf(point);
        options.push({ text, members: [{ run, point, label: keyOf(point) }] });
      }
    }
  }
  return { all, options };
}
