// Makes figures interactive: one figure with its controls, and all of the page, one after the other.

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

  const { all, options } = offered(kind, runs);
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
  // As many as there are colours for their lines, taken evenly, the first and the last among them.
  const thinned = (members) => {
    const most = Math.floor(MOST / (kind.lines ? kind.lines(members) : 1));
    if (members.length <= most) return members;
    const step = (members.length - 1) / (most - 1);
    return Array.from({ length: most }, (_, i) => members[Math.round(i * step)]);
  };
  const chosen = () => {
    const picked = [options[Number(first.value)]];
    if (!kind.one && second.value !== "") {
      const other = options[Number(second.value)];
      if (other !== picked[0]) picked.push(other);
    }
    const named = picked.length > 1 && (several || picked.some((option) => option.members.length > 1));
    return thinned(picked.flatMap((option) => option.members.map((member) =>
      (named ? Object.assign({}, member, { label: (several ? member.run.label + ": " : "") + keyOf(member.point) }) : member))));
  };
  // The note says how many points are shown, unless all are.
  const subset = (members) => (members.length === all.length ? "" :
    " Shown: " + members.length + " of " + all.length + " points" + (members.length > 1 ? ", those named in the legend." : "."));
  function draw(fresh) {
    const members = chosen();
    if (chart) chart.destroy();
    let drawn = kind.draw(members, log.checked);
    if (fresh && drawn.wantsLog !== log.checked) {
      log.checked = drawn.wantsLog;
      drawn = kind.draw(members, log.checked);
    }
    wide = plot.clientWidth || 640;
    chart = new uPlot({
      width: wide, height: Math.round(Math.max(240, Math.min(380, wide * 0.5))),
      series: drawn.series, bands: drawn.bands || [], axes: drawn.axes,
      scales: Object.assign({}, drawn.scales, { x: Object.assign({}, drawn.scales.x, { range: withEdges }) }),
      legend: { live: true }, hooks: drawn.hooks || {},
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
    markLegend(chart, drawn.series);
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
    const x = chart.data[0];
    chart.setScale("x", { min: x[0], max: x[x.length - 1] });
  }
  first.addEventListener("change", () => draw(true));
  second.addEventListener("change", () => draw(true));
  log.addEventListener("change", () => draw(false));
  reset.addEventListener("click", showAll);
  plot.addEventListener("keydown", (event) => {
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
    chart.setSize({ width: wide, height: Math.round(Math.max(240, Math.min(380, wide * 0.5))) });
  }).observe(plot);
  holder.chart = () => chart;
}

// One after the other, so that the page can be read meanwhile.
function liveAll(figures) {
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
  setTimeout(() => liveAll(figures));
}

const liveFigures = [...document.querySelectorAll("figure[data-live]")];
if (typeof uPlot !== "undefined" && source && liveFigures.length > 0) {
  document.querySelector("#figures h2").after(element("p", { className: "muted hint" },
    "Figures with a selection of points can be zoomed: drag to zoom, double-click or press \u201cShow all\u201d to reset. " +
    "Hover or use the arrow keys to read values."));
  if (document.readyState === "complete") liveAll(liveFigures);
  else window.addEventListener("load", () => setTimeout(() => liveAll(liveFigures)));
}
