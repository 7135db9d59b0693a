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
  const edges = [];
  const counts = [];
  let bin = point.bins[0];
  for (const count of point.bins[1]) {
    if (count < 0) {
      edges.push(Math.pow(10, bin / data.bins));
      counts.push(0);
      bin -= count;
    } else {
      edges.push(Math.pow(10, bin / data.bins));
      counts.push(count);
      bin += 1;
    }
  }
  edges.push(Math.pow(10, bin / data.bins));
  counts.push(0);
  point.ready = {
    at: running(point.at), low, mean: above(point.mean), high: above(point.high),
    longest: [running(point.longest[0]), point.longest[1].map((value) => value * point.unit)],
    bad: [running(point.bad[0]), point.bad[1]],
    percentiles: point.percentiles.map((value) => value * point.unit),
    edges, counts,
  };
  return point.ready;
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
