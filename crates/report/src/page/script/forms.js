// The forms of interactive figures: each makes columns, series and axes for uPlot from the selected points.

// RTT over time: shortest to longest of each slice as a band, the mean in it, what stands out.
function drawSeries(chosen, log) {
  const { run, point } = chosen[0];
  const p = unpacked(point);
  const unit = unitOf(p.shortest || largest(p.longest[1]));
  const seconds = (list) => list.map((ns) => ns / 1e9);
  const scaled = (list) => list.map((ns) => (ns === null ? null : log ? positive(ns / unit.size) : ns / unit.size));
  const top = Math.max(largest(p.longest[1]), largest(p.high), 1) / unit.size;
  const bottom = (p.shortest || unit.size) / unit.size;
  // Those without an answer have no time of their own: they stand at the upper edge, each status in a row.
  const errors = point.bad_in_all.map(([status, often], row, all) => ({
    mark: data.statuses[status], often,
    at: seconds(p.bad[0].filter((_, i) => p.bad[1][i] === status)),
    height: log ? top * Math.pow(1.12, all.length - row) : top * (1 + 0.05 * (all.length - row)),
  })).filter((error) => error.at.length > 0);
  const slices = Math.max(0, p.low.filter((value) => value !== null).length - 1);
  const tables = [
    [seconds(p.at), scaled(p.low), scaled(p.high), scaled(p.mean)],
    [seconds(p.longest[0]), scaled(p.longest[1])],
    ...errors.map((error) => [error.at, error.at.map(() => error.height)]),
  ].filter((table) => table[0].length > 0);
  // A silence reaches to the next slice, whatever samples other series have in it.
  const silences = tables.map((table, i) => table.map(() => (i === 0 && slices > 0 ? 2 : 1)));
  const color = variable("s1");
  const band = variable("s4");
  const value = (u, v) => (v === null || v === undefined ? "-" : figure(v) + " " + unit.name);
  const steps = uPlot.paths.stepped({ align: 1, alignGaps: 1 });
  const dot = (stroke, size) => ({ paths: () => null, points: { show: true, size, stroke, fill: stroke, width: 1 } });
  const series = [{ label: "time", value: (u, v) => (v === null || v === undefined ? "-" : grouped(v, 6) + " s") }];
  if (slices > 0) {
    const step = (label, stroke, width) => ({ label, stroke, width, points: { show: false }, paths: steps, value });
    series.push(step("shortest of a time slice", band, 0.5), step("longest", band, 0.5), step("mean of a time slice", color, 1.4));
  }
  if (p.longest[0].length > 0) {
    series.push(slices > 0
      ? Object.assign({ label: "outlier", stroke: variable("s5"), value }, dot(variable("s5"), 5))
      : Object.assign({ label: "one " + run.one, stroke: color, value }, dot(color, 5)));
  }
  errors.forEach(({ mark, often }) => series.push({
    label: mark.name + " (" + grouped(often) + ")", stroke: variable(mark.colour), mark,
    value: (u, v, s, index) => (v === null || v === undefined ? "-" : grouped(u.data[0][index], 6) + " s"),
    paths: () => null,
    points: {
      show: true, stroke: variable(mark.colour), fill: variable(mark.hollow ? "paper" : mark.colour), width: mark.hollow ? 1.6 : 1,
      paths: markers(mark),
    },
  }));
  return {
    columns: uPlot.join(tables, silences), series,
    bands: slices > 0 ? [{ series: [2, 1], fill: band + variable("band") }] : [],
    scales: { x: { time: false }, y: scale(log) },
    axes: [
      axis("Time since the start (s)", {
        values: (u, splits) => whole(u, splits, splits.map((v) => grouped(v, 6))), space: roomForLabels,
      }),
      axis(run.what + " (" + unit.name + ")", { size: beside, ...ticks(log) }),
    ],
    wantsLog: top / bottom > 20,
    note: (slices > 0
      ? "Each of " + grouped(slices) + " time slices shows the minimum, mean and maximum of its samples, " + grouped(point.of) +
        " in total" + (p.longest[0].length > 0 ? (p.longest[0].length === 1 ? "; the longest outlier is shown individually."
          : "; the " + grouped(p.longest[0].length) + " longest outliers are shown individually.") : ".")
      : "Each of the " + grouped(p.longest[0].length) + " " + run.things + " is one dot.") +
      (point.bad_in_all.length > 0 ? " Of the errors (" +
        point.bad_in_all.map(([status, often]) => grouped(often) + " " + data.statuses[status].name).join(", ") + "), " +
        grouped(p.bad[0].length) + " are marked at the upper edge." : ""),
  };
}

// Percentiles: each nine takes the same room.
const shareText = (place) => {
  const percent = 100 * (1 - Math.pow(10, -place));
  return percent.toFixed(Math.max(0, Math.ceil(place) - 2 + (place % 1 ? 1 : 0))) + " %";
};
function drawCurve(chosen, log) {
  const curves = chosen.flatMap(curvesOf);
  const inFirstNine = ({ at, values }) => largest(values.filter((_, i) => at[i] <= 1)) || Infinity;
  const unit = unitOf(Math.min(...curves.map((curve) => inFirstNine(curve.line))));
  let top = 0;
  let bottom = Infinity;
  const tables = curves.map(({ line }) => {
    const values = line.values.map((ns) => ns / unit.size);
    top = Math.max(top, largest(values));
    bottom = Math.min(bottom, values[0] || Infinity);
    return [line.at, log ? values.map(positive) : values];
  });
  // Few values are steps: each holds up to its own place.
  const steps = uPlot.paths.stepped({ align: -1 });
  const linear = uPlot.paths.linear();
  const path = (s) => (curves[s - 1].line.stepped ? steps : linear);
  // Fewer than so many samples are beyond the rest of the curve, which is thin as in the drawn figure.
  const known = (u, s) => {
    let at = u.data[0].length - 1;
    const end = Math.log10(curves[s - 1].of / data.few) + 1e-9;
    while (at >= 0 && (u.data[0][at] > end || u.data[s][at] === null || u.data[s][at] === undefined)) at -= 1;
    return at;
  };
  const thick = (u, s, from, to) => {
    const end = known(u, s);
    return end > from ? path(s)(u, s, from, Math.min(to, end)) : null;
  };
  const thin = (u, s) => {
    const [from, to] = u.series[0].idxs;
    const begin = Math.max(from, known(u, s));
    if (begin >= to) return;
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left, top, width, height);
    u.ctx.clip();
    u.ctx.strokeStyle = u.series[s].stroke(u, s);
    u.ctx.lineWidth = 0.8 * devicePixelRatio;
    u.ctx.setLineDash((u.series[s].dash || []).map((length) => length * devicePixelRatio));
    u.ctx.stroke(path(s)(u, s, begin, to).stroke);
    u.ctx.restore();
  };
  return {
    columns: uPlot.join(tables),
    hooks: { drawSeries: [thin] },
    series: [{ label: "percentile", value: (u, v) => (v === null || v === undefined ? "-" : shareText(v)) }]
      .concat(curves.map((curve, i) => line(i, curve.label, {
        spanGaps: true, paths: thick, value: (u, v) => (v === null || v === undefined ? "-" : figure(v) + " " + unit.name),
      }))),
    scales: { x: { time: false }, y: scale(log) },
    axes: [
      axis("Percentile of the " + chosen[0].run.things, {
        splits: (u, i, min, max) => {
          const at = [];
          // Pixels of a label, and of a nine.
          const label = (place) => 8 * shareText(place).length;
          const nine = (u.width - 80) / (max - min);
          const step = Math.max(1, Math.ceil((label(Math.floor(max)) + 8) / nine));
          for (let place = Math.ceil(min); place <= max; place += step) {
            if ((max - place) * nine + 16 >= label(place) / 2) at.push(place);
          }
          // The median, where it has room behind 0 %.
          const median = Math.log10(2);
          if (at[0] === 0 && step === 1 && median < max && median * nine > 48) at.splice(1, 0, median);
          return at;
        },
        values: (u, splits) => splits.map(shareText),
      }),
      axis(chosen[0].run.what + " (" + unit.name + ")", { size: beside, ...ticks(log) }),
    ],
    wantsLog: top / bottom > 20,
    note: "Every sample is counted. Each step to the right leaves a tenth of the samples above it; each curve ends " +
      "with its longest sample. The thin part of the line: fewer than " + data.few + " samples." + (curves.length > chosen.length
        ? " From the intended start: includes the delay of late starts, as a caller with a fixed schedule sees it." : ""),
  };
}

// The outline of bins: each piece of bins that are not empty stands on the axis, an empty bin is a gap.
function bins(u, s, first, last) {
  const [edges, counts] = [u.data[0], u.data[s]];
  const px = (value, scale) => u.valToPos(value, scale, true);
  const floor = u.bbox.top + u.bbox.height;
  const stroke = new Path2D();
  let inside = false;
  for (let i = Math.max(0, first - 1); i <= Math.min(last + 1, edges.length - 1); i += 1) {
    const x = px(edges[i], "x");
    const high = positive(counts[i]);
    if (high !== null) {
      if (!inside) stroke.moveTo(x, floor);
      stroke.lineTo(x, px(high, "y"));
      if (i + 1 < edges.length) stroke.lineTo(px(edges[i + 1], "x"), px(high, "y"));
    } else if (inside) {
      stroke.lineTo(x, floor);
    }
    inside = high !== null;
  }
  return { stroke, fill: stroke, clip: null, band: null, gaps: null, flags: 1 };
}

// A value of 0 has no place on a logarithmic axis: its bin moves from 1 ns, where it is stored, to the left of all
// others. Returns where it stands; null if no value is 0.
function apartFromZero(all) {
  const isZero = (p) => p.edges[0] <= 1;
  const positive = Math.min(...all.flatMap((p) => p.edges.filter((edge, i) => p.counts[i] > 0 && edge > 1)));
  if (!all.some(isZero) || !isFinite(positive)) return null;
  const [from, to] = [positive / 1.6, positive / 1.45];
  for (const p of all.filter(isZero)) {
    const ends = p.counts[1] === 0 ? 2 : 1;
    p.edges.splice(0, ends, from, to);
    p.counts.splice(0, ends, p.counts[0], 0);
  }
  return { from, to, positive };
}

function ticksFromZero(zero, unit) {
  const at = Math.sqrt(zero.from * zero.to) / unit.size;
  const { values, splits, filter } = ticks(true);
  return {
    filter,
    splits: (u, i, min, max) => (at >= min && at <= max ? [at] : [])
      .concat(splits(u, i, min, max).filter((value) => value * unit.size >= zero.positive)),
    values: (u, places, i) => values(u, places, i).map((text, n) => (places[n] === at ? "0" : text)),
  };
}

// Counts in bins of equal width on a logarithmic axis.
function drawHistogram(chosen, log) {
  const wide = widthOfBins(Math.min(...chosen.map((c) => c.point.of)));
  const all = chosen.map((c) => binned(c.point, wide));
  const zero = apartFromZero(all);
  const unit = unitOf(zero ? zero.positive : Math.min(...all.map((p) => p.edges[0] || Infinity)));
  let least = Infinity;
  const tables = all.map((p) => {
    const all = chosen.length > 1 ? (p.counts.reduce((a, b) => a + b, 0) || 1) / 100 : 1;
    least = Math.min(least, 1 / all);
    return [p.edges.map((ns) => ns / unit.size), p.counts.map((count) => (count > 0 ? count / all : null))];
  });
  const things = chosen[0].run.things;
  const label = chosen.length > 1 ? "% of the " + things : capital(things);
  const fill = (i) => variable("s" + (1 + (i % COLOURS))) + variable("band");
  // Each point has bins of its own: a bin lasts until its next edge.
  const columns = uPlot.join(tables);
  for (let s = 1; s < columns.length; s += 1) {
    const edges = new Map(tables[s - 1][0].map((edge, i) => [edge, tables[s - 1][1][i]]));
    let now = null;
    columns[s] = columns[0].map((edge) => (now = edges.has(edge) ? edges.get(edge) : now));
  }
  return {
    columns,
    // An empty bin holds nothing, whatever its neighbours hold.
    exact: true,
    series: [{
      label: "from",
      value: (u, v) => (v === null || v === undefined ? "-" : figure(zero && v <= zero.to / unit.size ? 0 : v) + " " + unit.name),
    }]
      .concat(chosen.map((c, i) => line(i, c.label, {
        dash: [], width: 1.4, fill: fill(i), paths: bins,
        value: (u, v, s, index) => (index === null || index === undefined ? "-" :
          grouped(v || 0, chosen.length > 1 ? 3 : 0) + (chosen.length > 1 ? " %" : "")),
      }))),
    scales: {
      x: Object.assign(scale(true, 1, 1), { time: false }),
      // Room below a single sample, so that its bin is seen.
      y: log ? { distr: 3, log: 10, range: (u, min, max) => [least / 2, (max || 1) * 1.5] }
        : { range: (u, min, max) => [0, (max || 1) * 1.05] },
    },
    axes: [
      axis(chosen[0].run.what + " (" + unit.name + ")", zero ? ticksFromZero(zero, unit) : ticks(true)),
      axis(label, { size: beside, ...ticks(log) }),
    ],
    wantsLog: true,
    note: "Every sample is counted, in bins of equal width on the logarithmic axis of time (" +
      grouped(100 * (Math.pow(10, wide / data.bins) - 1), 1) + " % each); an empty bin is a gap." +
      (zero ? " The bar at 0: requests sent in one call, which start together." : ""),
  };
}

const kinds = {
  series: { draw: drawSeries, one: true },
  curve: { draw: drawCurve, one: false, lines: (members) => largest(members.map(({ point }) => (point.intended ? 2 : 1))) },
  histogram: { draw: drawHistogram, one: false },
};
