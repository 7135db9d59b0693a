// What all interactive figures look like: numbers, units, lines, axes, the markers of the legend.

const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);
const grouped = (value, most = 0) => value.toLocaleString("en-US", { maximumFractionDigits: most });

// The unit in which a typical value reads well.
function unitOf(ns) {
  if (ns >= 1e9) return { size: 1e9, name: "s" };
  if (ns >= 1e6) return { size: 1e6, name: "ms" };
  return { size: 1e3, name: "\u00b5s" };
}
function figure(value) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  return grouped(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

// How the series of a figure look, as in the drawn ones: never by colour alone.
const line = (i, label, more) => Object.assign({
  label, stroke: variable("s" + (1 + (i % COLOURS))), width: 1.8, dash: data.dashes[i % data.dashes.length],
  points: { show: false },
}, more);

function axis(label, more) {
  return Object.assign({
    label, stroke: variable("muted"), labelSize: 22, labelFont: "14px sans-serif", font: "13px sans-serif",
    grid: { stroke: variable("grid"), width: 1 }, ticks: { stroke: variable("grid"), width: 1 },
  }, more);
}

// Room for the labels of a vertical axis.
const beside = (u, texts) => Math.max(64, 20 + 8 * Math.max(0, ...(texts || []).map((text) => text.length)));

// The labels of a horizontal axis without one that the right edge would cut off.
function whole(u, splits, texts) {
  const left = u.bbox.left / devicePixelRatio || 86;
  return texts.map((text, i) => (left + u.valToPos(splits[i], "x") + 4 * text.length > u.width ? "" : text));
}

const positive = (value) => (value > 0 ? value : null);
const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

// An axis that is logarithmic at wish: lines at 1, 2 and 5, or closer where little is seen.
function scale(log, low = 0.9, high = 1.1) {
  return log ? { distr: 3, log: 10, range: (u, min, max) => [(min || 1) * low, (max || 1) * high] } : {};
}
function ticks(log) {
  const values = (u, splits, i) => {
    const texts = splits.map((value) => (value === null ? "" : grouped(value, 6)));
    return i === 0 ? whole(u, splits, texts) : texts;
  };
  if (!log) return { values };
  const splits = (u, i, min, max) => {
    const at = [];
    const add = (value) => {
      const exact = Number(value.toPrecision(12));
      if (exact >= min && exact <= max) at.push(exact);
    };
    // A label is about so long along its axis.
    const [length, label] = i === 0 ? [u.width - 80, 55] : [u.height - 60, 17];
    if (max / min < 3) {
      // Even steps of 1, 2 or 5, which are closest at the end of the axis.
      const closest = length / Math.log(max / min) / max;
      const first = (step) => Math.ceil(min / step) * step;
      // The second label may have a decimal more than the first, the last one a digit.
      const some = (step) => [first(step), first(step) + step, Math.floor(max / step) * step];
      const letters = (step) => Math.max(...some(step).map((value) => grouped(value, 6).length));
      let step = Math.pow(10, Math.floor(Math.log10(max - min)) - 1);
      for (const times of [2, 2.5, 2, 2, 2.5, 2]) {
        if (step * closest >= (i === 0 ? 8 * letters(step) + 8 : label)) break;
        step *= times;
      }
      for (let value = first(step); value <= max; value += step) add(value);
      return at;
    }
    const room = length / Math.log10(max / min) / label;
    const mantissas = room < 3.4 ? [1] : room < 11 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
    const every = Math.max(1, Math.ceil(1 / room));
    for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power += every) {
      mantissas.forEach((mantissa) => add(mantissa * Math.pow(10, power)));
    }
    return at;
  };
  return { values, splits, filter: (u, splits) => splits };
}

// All of the horizontal axis, with room for what stands at its ends; a zoomed part exactly.
const EDGE = 0.015;
function withEdges(u, min, max) {
  const x = u.data[0];
  if (!(max > min) || min !== x[0] || max !== x[x.length - 1]) return [min, max];
  if (u.scales.x.distr !== 3) return [min - EDGE * (max - min), max + EDGE * (max - min)];
  const times = Math.pow(max / min, EDGE);
  return [min / times, max * times];
}

// Pixels from one label of a linear horizontal axis to the next: more digits where it is zoomed.
function roomForLabels(u, i, min, max) {
  const decimals = Math.max(0, Math.min(6, 1 + Math.ceil(-Math.log10((max - min) / 4))));
  return Math.max(50, 8 * (grouped(max).length + (decimals > 0 ? 1 + decimals : 0)) + 8);
}

// The marker of what went wrong as in the drawn figures, around a place.
function outline(mark, x, y, radius) {
  const path = new Path2D();
  if (mark.corners.length === 0) path.arc(x, y, radius, 0, 2 * Math.PI);
  mark.corners.forEach(([dx, dy], i) => path[i === 0 ? "moveTo" : "lineTo"](x + radius * dx, y + radius * dy));
  path.closePath();
  return path;
}
const markers = (mark) => (u, s, first, last) => {
  const path = new Path2D();
  const radius = 3.6 * devicePixelRatio;
  for (let i = first; i <= last; i += 1) {
    const value = u.data[s][i];
    if (value !== null && value !== undefined) {
      path.addPath(outline(mark, u.valToPos(u.data[0][i], "x", true), u.valToPos(value, "y", true), radius));
    }
  }
  const clip = new Path2D();
  clip.rect(u.bbox.left - radius, u.bbox.top - radius, u.bbox.width + 2 * radius, u.bbox.height + 2 * radius);
  return { stroke: path, fill: path, clip, flags: 3 };
};

// What stands before a name, as in the legends of drawn figures.
function markLegend(chart, series) {
  chart.root.querySelectorAll(".u-legend .u-series").forEach((row, i) => {
    const marker = row.querySelector(".u-marker");
    if (!marker || i === 0) return;
    const { stroke, width, dash, points, mark } = series[i];
    const shape = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
      return made;
    };
    const svg = shape("svg", { width: 30, height: 12, viewBox: "0 0 30 12" });
    const corners = mark && mark.corners.map(([dx, dy]) => [15 + 4 * dx, 6 + 4 * dy].join(",")).join(" ");
    const filled = mark && mark.hollow ? { fill: points.fill, stroke, "stroke-width": 1.6 } : { fill: stroke };
    svg.append(corners ? shape("polygon", { points: corners, ...filled }) : points && points.show
      ? shape("circle", { cx: 15, cy: 6, r: 4, ...filled })
      : shape("line", { x1: 0, y1: 6, x2: 30, y2: 6, stroke, "stroke-width": Math.max(width, 1), "stroke-dasharray": (dash || []).join(" ") }));
    marker.removeAttribute("style");
    marker.replaceChildren(svg);
  });
}
