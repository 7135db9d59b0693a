// Points that are shown and hidden in all figures at once. In a drawn figure, `data-point` has the keys of the points
// that an element is of, and `data-vertices` those of the points that a line goes through.

const hiddenPoints = new Set();
const ALL_HIDDEN = "All points of this figure are hidden.";
const OTHERS_SHOWN = "This figure does not have the points that are shown: it has ";
const keysIn = (list) => (list ? list.split(" ") : []);
const areHidden = (keys) => keys.length > 0 && keys.every((key) => hiddenPoints.has(key));

// Where the vertices of a line stand: a place, then steps.
function verticesOf(path) {
  const numbers = path.getAttribute("d").match(/-?(?:\d+\.?\d*|\.\d+)/g).map(Number);
  let [x, y] = [0, 0];
  return keysIn(path.dataset.vertices).map((key, i) => {
    x += numbers[2 * i];
    y += numbers[2 * i + 1];
    return { key, at: x.toFixed(1) + " " + y.toFixed(1) };
  });
}

const elementsOfPoints = [...document.querySelectorAll("svg [data-point]")]
  .map((drawn) => ({ drawn, keys: keysIn(drawn.dataset.point) }));
const linesThroughPoints = [...document.querySelectorAll("svg [data-vertices]")]
  .map((path) => ({ path, vertices: verticesOf(path) }));
// Why a figure with these points shows none of them: they were hidden, or others were chosen that it never had.
const why = (keys) => (listed.every(({ key }) => hiddenPoints.has(key)) || listed.every(({ key }) => keys.includes(key))
  ? ALL_HIDDEN : OTHERS_SHOWN + keys.filter((key) => listed.some((item) => item.key === key)).length + " of " + listed.length + " points.");
// A panel or a figure without any of its points has nothing to show.
const holdersOfPoints = [...document.querySelectorAll("figure, figure g.panel")].map((holder) => {
  const parts = [holder, ...holder.querySelectorAll("[data-point], [data-vertices]")];
  const keys = parts.flatMap((part) => [...keysIn(part.dataset.point), ...keysIn(part.dataset.vertices)]);
  return { holder, keys: [...new Set(keys)] };
});
for (const { holder, keys } of holdersOfPoints) {
  if (holder.matches("figure") && keys.length > 0) {
    holder.querySelector(".drawn").after(element("p", { className: "empty", textContent: ALL_HIDDEN }));
  }
}

function applyPoints() {
  const show = (drawn, isHidden) => { drawn.style.visibility = isHidden ? "hidden" : ""; };
  elementsOfPoints.forEach(({ drawn, keys }) => show(drawn, areHidden(keys)));
  for (const { path, vertices } of linesThroughPoints) {
    // The line goes on to the next neighbour that is left.
    const left = vertices.filter(({ key }) => !hiddenPoints.has(key));
    path.setAttribute("d", left.length > 1 ? "M" + left.map(({ at }) => at).join("L") : "");
  }
  for (const { holder, keys } of holdersOfPoints) {
    if (holder.matches("figure")) {
      const isEmpty = areHidden(keys);
      holder.classList.toggle("is-empty", isEmpty);
      if (isEmpty) holder.querySelector(".empty").textContent = why(keys);
    } else show(holder, areHidden(keys));
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
    "Unchecked points are hidden in all figures. ",
    element("button", { type: "button", textContent: "All", onclick: every(true) }), " ",
    element("button", { type: "button", textContent: "None", onclick: every(false) })));
}
