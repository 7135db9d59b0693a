// What can be done with the page where scripts run: figures that zoom and tell values, a switch for
// light and dark, a button that copies the command. Without it the page has everything but these.
(function () {
  "use strict";

  const root = document.documentElement;
  const media = window.matchMedia("(prefers-color-scheme: dark)");
  const redraws = [];
  const variable = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // Light and dark: as the system wishes until somebody presses the switch.
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : media.matches);
  const themeSwitch = document.getElementById("theme");
  function nameTheme() {
    themeSwitch.textContent = isDark() ? "Light" : "Dark";
  }
  themeSwitch.hidden = false;
  themeSwitch.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
    redraws.forEach((redraw) => redraw());
  });
  media.addEventListener("change", () => {
    nameTheme();
    redraws.forEach((redraw) => redraw());
  });
  nameTheme();

  // A page from a file may not reach the clipboard: then the command is selected instead.
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const code = document.getElementById(button.dataset.copy);
    button.hidden = false;
    button.addEventListener("click", () => {
      const select = () => {
        const range = document.createRange();
        range.selectNodeContents(code);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
      };
      const done = (word) => {
        button.textContent = word;
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      };
      const byHand = () => {
        select();
        done(document.execCommand("copy") ? "Copied" : "Selected");
      };
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => done("Copied"), byHand);
      else byHand();
    });
  }

  // Points that are shown and hidden in all figures at once.
  const hiddenPoints = new Set();
  function applyPoints() {
    for (const drawn of document.querySelectorAll("[data-point]")) {
      drawn.style.visibility = hiddenPoints.has(drawn.dataset.point) ? "hidden" : "";
    }
    redraws.forEach((redraw) => redraw());
  }
  const listed = [...document.querySelectorAll("#points li[data-key]")].map((item) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.setAttribute("aria-label", "show " + item.textContent);
    box.addEventListener("change", () => {
      if (box.checked) hiddenPoints.delete(item.dataset.key);
      else hiddenPoints.add(item.dataset.key);
      applyPoints();
    });
    item.prepend(box);
    return { box, key: item.dataset.key };
  });
  if (listed.length > 0) {
    const every = (checked) => () => {
      for (const { box, key } of listed) {
        box.checked = checked;
        if (checked) hiddenPoints.delete(key);
        else hiddenPoints.add(key);
      }
      applyPoints();
    };
    document.querySelector("#points ul").before(element("p", { className: "muted" },
      "Unchecked points are hidden in all figures over time, histograms and percentiles; figures against size, depth or " +
      "transfer size show all points. ",
      element("button", { type: "button", textContent: "All", onclick: every(true) }), " ",
      element("button", { type: "button", textContent: "None", onclick: every(false) })));
  }

  const figures = [...document.querySelectorAll("figure[data-live]")];
  const source = document.getElementById("data");
  if (typeof uPlot === "undefined" || !source || figures.length === 0) return;
  const data = JSON.parse(source.textContent);
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

  const positive = (value) => (value > 0 ? value : null);
  const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

  // An axis that is logarithmic at wish: lines at 1, 2 and 5, or closer where little is seen.
  function scale(log, low = 0.9, high = 1.1) {
    return log ? { distr: 3, log: 10, range: (u, min, max) => [(min || 1) * low, (max || 1) * high] } : {};
  }
  function ticks(log) {
    const values = (u, splits) => splits.map((value) => (value === null ? "" : grouped(value, 6)));
    if (!log) return { values };
    const splits = (u, i, min, max) => {
      const at = [];
      const add = (value) => {
        const exact = Number(value.toPrecision(12));
        if (exact >= min && exact <= max) at.push(exact);
      };
      if (max / min < 3) {
        const power = Math.pow(10, Math.floor(Math.log10(max - min)));
        const step = max - min < 3 * power ? power / 2 : power;
        for (let value = Math.ceil(min / step) * step; value <= max; value += step) add(value);
        return at;
      }
      // What a decade has room for: a label is about so long along its axis.
      const [length, label] = i === 0 ? [u.width - 80, 55] : [u.height - 60, 17];
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

  // RTT over time: shortest to longest of each slice as a band, the mean in it, what stands out.
  function drawSeries(chosen, log) {
    const { run, point } = chosen[0];
    const p = unpacked(point);
    const unit = unitOf(p.percentiles[0] || largest(p.longest[1]));
    const seconds = (list) => list.map((ns) => ns / 1e9);
    const scaled = (list) => list.map((ns) => (ns === null ? null : log ? positive(ns / unit.size) : ns / unit.size));
    const top = Math.max(largest(p.longest[1]), largest(p.high), 1) / unit.size;
    const bottom = (p.percentiles[0] || unit.size) / unit.size;
    const slices = Math.max(0, p.low.filter((value) => value !== null).length - 1);
    const tables = [
      [seconds(p.at), scaled(p.low), scaled(p.high), scaled(p.mean)],
      [seconds(p.longest[0]), scaled(p.longest[1])],
      // Those without an answer have no time of their own: they stand at the upper edge.
      [seconds(p.bad[0]), p.bad[0].map(() => top)],
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
    if (p.bad[0].length > 0) {
      series.push(Object.assign({
        label: "error", stroke: variable("bad"),
        value: (u, v, i, index) => {
          const at = index === null || index === undefined ? -1 : nearest(p.bad[0], u.data[0][index] * 1e9);
          return v === null || v === undefined || at < 0 ? "-" : data.statuses[p.bad[1][at]];
        },
      }, dot(variable("bad"), 6)));
    }
    return {
      columns: uPlot.join(tables, silences), series,
      bands: slices > 0 ? [{ series: [2, 1], fill: band + variable("band") }] : [],
      scales: { x: { time: false }, y: scale(log) },
      axes: [
        axis("Time since the start (s)", { values: (u, splits) => splits.map((v) => grouped(v, 6)) }),
        axis(run.what + " (" + unit.name + ")", { size: 64, ...ticks(log) }),
      ],
      wantsLog: top / bottom > 20,
      note: (slices > 0
        ? "Each of " + grouped(slices) + " time slices shows the minimum, mean and maximum of its samples, " + grouped(point.of) +
          " in total" + (p.longest[0].length > 0 ? "; the " + grouped(p.longest[0].length) + " longest outliers are shown individually." : ".")
        : "Each of the " + grouped(p.longest[0].length) + " " + run.things + " is one dot.") +
        (point.bad_in_all.length > 0 ? " Of the errors (" +
          point.bad_in_all.map(([status, often]) => grouped(often) + " " + data.statuses[status]).join(", ") + "), " +
          grouped(p.bad[0].length) + " are marked at the upper edge." : ""),
    };
  }

  function nearest(sorted, value) {
    let best = -1;
    let distance = Infinity;
    sorted.forEach((candidate, i) => {
      if (Math.abs(candidate - value) < distance) {
        distance = Math.abs(candidate - value);
        best = i;
      }
    });
    return best;
  }

  // Percentiles: each nine takes the same room.
  const shareText = (place) => {
    const percent = 100 * (1 - Math.pow(10, -place));
    return percent.toFixed(Math.max(0, Math.ceil(place) - 2 + (place % 1 ? 1 : 0))) + " %";
  };
  function drawCurve(chosen, log) {
    const unit = unitOf(Math.min(...chosen.map((c) => largest(unpacked(c.point).percentiles.slice(0, 13)) || Infinity)));
    let top = 0;
    let bottom = Infinity;
    const tables = chosen.map(({ point }) => {
      const values = unpacked(point).percentiles.map((ns) => ns / unit.size);
      top = Math.max(top, largest(values));
      bottom = Math.min(bottom, values[0] || Infinity);
      // The last is the longest: it stands where one in all of them is.
      const last = Math.log10(Math.max(1, point.of));
      return [values.map((_, i) => (i === values.length - 1 ? Math.max(last, (i - 1) / data.places) : i / data.places)),
        log ? values.map(positive) : values];
    });
    return {
      columns: uPlot.join(tables),
      series: [{ label: "percentile", value: (u, v) => (v === null || v === undefined ? "-" : shareText(v)) }]
        .concat(chosen.map((c, i) => line(i, c.label, {
          spanGaps: true, value: (u, v) => (v === null || v === undefined ? "-" : figure(v) + " " + unit.name),
        }))),
      scales: { x: { time: false }, y: scale(log) },
      axes: [
        axis("Percentile of the " + chosen[0].run.things, {
          splits: (u, i, min, max) => {
            const at = [];
            // A label takes about 55 pixels.
            const step = Math.max(1, Math.ceil(55 * (max - min) / u.width));
            for (let place = Math.ceil(min); place <= max; place += step) at.push(place);
            return at;
          },
          values: (u, splits) => splits.map(shareText),
        }),
        axis(chosen[0].run.what + " (" + unit.name + ")", { size: 64, ...ticks(log) }),
      ],
      wantsLog: top / bottom > 20,
      note: "Every sample is counted. Each step to the right leaves a tenth of the samples above it; each curve ends " +
        "with its longest sample.",
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

  // Counts in bins of equal width on a logarithmic axis.
  function drawHistogram(chosen, log) {
    const unit = unitOf(Math.min(...chosen.map((c) => unpacked(c.point).edges[0] || Infinity)));
    let least = Infinity;
    const tables = chosen.map(({ point }) => {
      const p = unpacked(point);
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
      series: [{ label: "from", value: (u, v) => (v === null || v === undefined ? "-" : figure(v) + " " + unit.name) }]
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
        axis(chosen[0].run.what + " (" + unit.name + ")", ticks(true)),
        axis(label, { size: 64, ...ticks(log) }),
      ],
      wantsLog: true,
      note: "Every sample is counted, in bins of equal width on the logarithmic axis of time (" +
        grouped(100 * (Math.pow(10, 1 / data.bins) - 1), 1) + " % each); an empty bin is a gap.",
    };
  }

  const kinds = {
    series: { draw: drawSeries, one: true },
    curve: { draw: drawCurve, one: false },
    histogram: { draw: drawHistogram, one: false },
  };

  // One figure with its controls. The drawn one stays in the page, for print.
  function live(holder) {
    const kind = kinds[holder.dataset.live];
    const runs = data.runs.filter((run) => run.kind === holder.dataset.kind && run.points.length > 0);
    if (!kind || runs.length === 0) return;
    const several = runs.length > 1;
    const title = holder.querySelector("h3");
    const plot = element("div", { className: "plot", tabIndex: 0 });
    plot.setAttribute("role", "application");
    plot.setAttribute("aria-label", (title ? title.textContent : "Figure") +
      ": arrow keys move the cursor, plus and minus zoom, 0 shows all");
    const log = element("input", { type: "checkbox" });
    const reset = element("button", { type: "button", textContent: "Show all" });
    const help = element("p", { className: "help" });
    const tools = element("div", { className: "tools" });

    // What can be chosen: a point of all runs at once; of one run, a point or a row of the sweep.
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
    const list = (more) => {
      const select = element("select", {});
      more.forEach((text) => select.append(element("option", { value: "", textContent: text })));
      options.forEach((option, i) => select.append(element("option", { value: String(i), textContent: option.text })));
      return select;
    };
    const first = list([]);
    const second = list(["nothing"]);
    if (options.length > 1) {
      tools.append(element("label", {}, "Point", first));
      if (!kind.one) tools.append(element("label", {}, "beside", second));
    }
    tools.append(element("label", {}, log, "logarithmic"), reset);
    const body = element("div", { className: "live" }, tools, plot, help);
    holder.querySelector(".drawn").before(body);
    holder.classList.add("is-live");

    let chart = null;
    let wide = 0;
    let wanted = 0;
    const shown = (members) => members.filter((member) => !hiddenPoints.has(member.point.key));
    // As many as there are colours, taken evenly, the first and the last among them.
    const thinned = (members) => {
      if (members.length <= MOST) return members;
      const step = (members.length - 1) / (MOST - 1);
      return Array.from({ length: MOST }, (_, i) => members[Math.round(i * step)]);
    };
    const chosen = () => {
      const visible = (option) => shown(option.members).length > 0;
      // What was selected comes back with its points.
      const at = visible(options[wanted]) || !options.some(visible) ? wanted : options.findIndex(visible);
      first.value = String(at);
      const picked = [options[at]];
      if (!kind.one && second.value !== "") {
        const other = options[Number(second.value)];
        if (other !== picked[0]) picked.push(other);
      }
      const named = picked.length > 1 && (several || picked.some((option) => option.members.length > 1));
      return thinned(shown(picked.flatMap((option) => option.members.map((member) =>
        (named ? Object.assign({}, member, { label: (several ? member.run.label + ": " : "") + keyOf(member.point) }) : member)))));
    };
    // The note says how many points are shown, unless all are.
    const subset = (members) => (members.length === all.length ? "" :
      " Shown: " + members.length + " of " + all.length + " points" + (members.length > 1 ? ", those named in the legend." : "."));
    // What stands before a name, as in the legends of drawn figures.
    function legend(series) {
      chart.root.querySelectorAll(".u-legend .u-series").forEach((row, i) => {
        const marker = row.querySelector(".u-marker");
        if (!marker || i === 0) return;
        const { stroke, width, dash, points } = series[i];
        const shape = (name, attributes) => {
          const made = document.createElementNS("http://www.w3.org/2000/svg", name);
          Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
          return made;
        };
        const svg = shape("svg", { width: 30, height: 12, viewBox: "0 0 30 12" });
        svg.append(points && points.show
          ? shape("circle", { cx: 15, cy: 6, r: 4, fill: stroke })
          : shape("line", { x1: 0, y1: 6, x2: 30, y2: 6, stroke, "stroke-width": Math.max(width, 1), "stroke-dasharray": (dash || []).join(" ") }));
        marker.removeAttribute("style");
        marker.replaceChildren(svg);
      });
    }
    function draw(fresh) {
      const members = chosen();
      if (chart) chart.destroy();
      chart = null;
      if (members.length === 0) {
        help.textContent = "All points of this figure are hidden.";
        return;
      }
      let drawn = kind.draw(members, log.checked);
      if (fresh && drawn.wantsLog !== log.checked) {
        log.checked = drawn.wantsLog;
        drawn = kind.draw(members, log.checked);
      }
      wide = plot.clientWidth || 640;
      chart = new uPlot({
        width: wide, height: Math.round(Math.max(240, Math.min(380, wide * 0.5))),
        series: drawn.series, bands: drawn.bands || [], scales: drawn.scales, axes: drawn.axes,
        legend: { live: true },
        cursor: {
          drag: { x: true, y: false, dist: 5 },
          // Series with times of their own: the nearest value of each is shown, if it is near.
          dataIdx: (u, s, index) => {
            const column = u.data[s];
            if (drawn.exact || s === 0 || index === null || (column[index] !== null && column[index] !== undefined)) return index;
            for (let step = 1; step < 400; step += 1) {
              for (const other of [index - step, index + step]) {
                if (column[other] !== null && column[other] !== undefined) {
                  const far = Math.abs(u.valToPos(u.data[0][other], "x") - u.valToPos(u.data[0][index], "x"));
                  return far < 12 ? other : index;
                }
              }
            }
            return index;
          },
        },
      }, drawn.columns, plot);
      legend(drawn.series);
      help.textContent = drawn.note + subset(members);
    }
    function zoom(factor) {
      const { min, max } = chart.scales.x;
      const log = chart.scales.x.distr === 3;
      const to = log ? Math.log : (v) => v;
      const from = log ? Math.exp : (v) => v;
      const at = chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, "x") : from((to(min) + to(max)) / 2);
      chart.setScale("x", {
        min: from(to(at) - (to(at) - to(min)) * factor), max: from(to(at) + (to(max) - to(at)) * factor),
      });
    }
    function showAll() {
      if (!chart) return;
      const x = chart.data[0];
      chart.setScale("x", { min: x[0], max: x[x.length - 1] });
    }
    first.addEventListener("change", () => {
      wanted = Number(first.value);
      draw(true);
    });
    second.addEventListener("change", () => draw(true));
    log.addEventListener("change", () => draw(false));
    reset.addEventListener("click", showAll);
    plot.addEventListener("keydown", (event) => {
      if (!chart) return;
      const area = chart.over.getBoundingClientRect();
      const now = chart.cursor.left >= 0 ? chart.cursor.left : area.width / 2;
      const move = (by) => chart.setCursor({ left: Math.max(0, Math.min(area.width, now + by)), top: area.height / 2 });
      const actions = {
        ArrowLeft: () => move(event.shiftKey ? -40 : -8), ArrowRight: () => move(event.shiftKey ? 40 : 8),
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: showAll, Escape: showAll,
      };
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      action();
      event.preventDefault();
    });
    draw(true);
    redraws.push(() => draw(false));
    new ResizeObserver(() => {
      if (Math.abs(plot.clientWidth - wide) < 2 || plot.clientWidth === 0) return;
      wide = plot.clientWidth;
      if (chart) chart.setSize({ width: wide, height: Math.round(Math.max(240, Math.min(380, wide * 0.5))) });
    }).observe(plot);
    holder.chart = () => chart;
  }

  // One after the other, so that the page can be read meanwhile.
  function next() {
    const holder = figures.shift();
    if (!holder) {
      root.dataset.live = "done";
      return;
    }
    try {
      live(holder);
    } catch (error) {
      // A figure that cannot be made live stays as it was drawn.
      holder.classList.remove("is-live");
      const body = holder.querySelector(".live");
      if (body) body.remove();
      console.error(error);
    }
    setTimeout(next);
  }
  const hint = element("p", { className: "muted hint" }, "Figures with a selection of points can be zoomed: drag to zoom, ",
    "double-click or press \u201cShow all\u201d to reset. Hover or use the arrow keys to read values.");
  document.querySelector("#figures h2").after(hint);
  if (document.readyState === "complete") next();
  else window.addEventListener("load", () => setTimeout(next));
})();
