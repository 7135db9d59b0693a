// Draws the frames of a captured bus on a canvas that zooms.

const data = JSON.parse(document.getElementById("packets").textContent);
const figure = document.getElementById("frames");
const canvas = document.createElement("canvas");
const spot = document.getElementById("spot");
const ROW = 16, LEFT = 84, TOP = 6, BOTTOM = 30;
const height = TOP + data.rows.length * ROW + BOTTOM;
let from = 0, to = data.frame_ns;

canvas.tabIndex = 0;
canvas.setAttribute("role", "img");
canvas.setAttribute("aria-label", figure.dataset.label);
figure.replaceChildren(canvas);
document.getElementById("tools").hidden = false;

const width = () => canvas.clientWidth - LEFT - 8;
const place = (ns) => LEFT + (ns - from) / (to - from) * width();
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
// A step of 1, 2 or 5 times a power of ten, for at most eight marks.
const step = (span) => {
  const power = 10 ** Math.floor(Math.log10(span / 8));
  return [1, 2, 5, 10].map((times) => times * power).find((one) => span / one <= 8);
};

function draw() {
  canvas.dataset.span = to - from;
  const scale = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const bottom = height - BOTTOM;
  const every = step(to - from);
  pen.textAlign = "center";
  for (let at = Math.ceil(from / every) * every; at <= to; at += every) {
    pen.fillStyle = colour("grid");
    pen.fillRect(place(at), TOP, 1, bottom - TOP);
    pen.fillStyle = colour("muted");
    const label = (at / 1000).toLocaleString("en", { maximumFractionDigits: 3 });
    // The last one may be wider than the margin.
    const most = LEFT + width() - pen.measureText(label).width / 2;
    pen.fillText(label, Math.min(place(at), most), bottom + 10);
  }
  pen.fillText("time in the frame (µs)", LEFT + width() / 2, bottom + 23);
  pen.textAlign = "right";
  data.rows.forEach((row, number) => {
    pen.fillStyle = colour("muted");
    pen.fillText((row.begin_ns / 1e6).toFixed(3) + " ms", LEFT - 8, TOP + (number + 0.5) * ROW);
  });
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, width(), bottom);
  pen.clip();
  data.kinds.forEach((kind, which) => {
    pen.fillStyle = colour(kind.colour);
    data.rows.forEach((row, number) => {
      for (const [begin, length, of] of row.bars) {
        if (of !== which || begin > to || begin + length < from) continue;
        pen.fillRect(place(begin), TOP + number * ROW + 2, Math.max(length / (to - from) * width(), 0.7), ROW - 4);
      }
    });
  });
  pen.restore();
}

function show(begin, end) {
  const span = Math.min(Math.max(end - begin, 100), data.frame_ns);
  from = Math.min(Math.max(begin, 0), data.frame_ns - span);
  to = from + span;
  draw();
}

function zoom(times, x) {
  const share = x === undefined ? 0.5 : Math.min(Math.max((x - LEFT) / width(), 0), 1);
  const span = (to - from) * times;
  const fixed = from + share * (to - from);
  show(fixed - share * span, fixed + (1 - share) * span);
}

const shift = (share) => show(from + share * (to - from), to + share * (to - from));
const inside = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.shiftKey && !event.altKey) return;
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.25 : 0.8, inside(event)[0]);
}, { passive: false });
let held;
canvas.addEventListener("pointerdown", (event) => {
  held = inside(event)[0];
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => { held = undefined; });
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = inside(event);
  if (held !== undefined) {
    shift((held - x) / width());
    held = x;
    return;
  }
  const row = data.rows[Math.floor((y - TOP) / ROW)];
  const at = from + (x - LEFT) / width() * (to - from);
  const near = (to - from) / width() * 2;
  const bar = row && row.bars.find(([begin, length]) => begin - near <= at && at <= begin + length + near);
  spot.textContent = bar
    ? `${data.kinds[bar[2]].name}: ${((row.begin_ns + bar[0]) / 1e6).toFixed(6)} ms, ${bar[1]} ns on the wire`
    : "";
});
canvas.addEventListener("dblclick", () => show(0, data.frame_ns));
const keys = { "+": () => zoom(0.5), "-": () => zoom(2), "0": () => show(0, data.frame_ns), ArrowLeft: () => shift(-0.25), ArrowRight: () => shift(0.25) };
canvas.addEventListener("keydown", (event) => {
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
document.getElementById("in").addEventListener("click", keys["+"]);
document.getElementById("out").addEventListener("click", keys["-"]);
document.getElementById("all").addEventListener("click", keys["0"]);
window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
