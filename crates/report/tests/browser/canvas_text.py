"""The texts that a page draws on canvases: where each stands, and which overlap or are cut off.

uPlot draws the labels of axes on a canvas, where no element has a box. So the calls that draw text are recorded,
with the box that the browser measures for each.
"""

from __future__ import annotations

# To be run before the scripts of the page.
RECORD = """
(() => {
  const texts = new WeakMap();
  const pen = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = pen;
  pen.fillText = function (text, x, y, ...rest) {
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right,
      actualBoundingBoxAscent: above, actualBoundingBoxDescent: below } = this.measureText(text);
    const turned = this.getTransform();
    const corners = [[x - left, y - above], [x + right, y - above], [x - left, y + below], [x + right, y + below]]
      .map(([x, y]) => turned.transformPoint(new DOMPoint(x, y)));
    const [xs, ys] = [corners.map((c) => c.x), corners.map((c) => c.y)];
    const box = { text: String(text), left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    if (!texts.has(this.canvas)) texts.set(this.canvas, []);
    if (box.text.trim() !== "") texts.get(this.canvas).push(box);
    return fillText.call(this, text, x, y, ...rest);
  };
  // What clears a canvas: a rectangle over all of it, or a new size.
  pen.clearRect = function (x, y, width, height) {
    if (x <= 0 && y <= 0 && x + width >= this.canvas.width && y + height >= this.canvas.height) texts.delete(this.canvas);
    return clearRect.call(this, x, y, width, height);
  };
  for (const side of ["width", "height"]) {
    const { get, set } = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, side);
    Object.defineProperty(HTMLCanvasElement.prototype, side, {
      get, set(value) { texts.delete(this); set.call(this, value); },
    });
  }
  window.textsOf = (canvas) => texts.get(canvas) || [];
})();
"""

# What is wrong with the texts on the canvases in view, in words; empty if nothing is.
WRONG = """
(() => {
  const wrong = [];
  for (const canvas of document.querySelectorAll('canvas')) {
    if (!canvas.checkVisibility({ visibilityProperty: true }) || canvas.width === 0) continue;
    const of = (canvas.closest('figure, section') || canvas).id;
    const texts = textsOf(canvas);
    if (texts.length < 4) wrong.push(of + ': only ' + texts.length + ' texts');
    texts.forEach((one, i) => {
      if (one.left < -0.5 || one.top < -0.5 || one.right > canvas.width + 0.5 || one.bottom > canvas.height + 0.5) {
        wrong.push(of + ": '" + one.text + "' is cut off: " + [one.left, one.top, one.right, one.bottom].map(Math.round) +
          ' on ' + canvas.width + ' x ' + canvas.height);
      }
      for (const other of texts.slice(i + 1)) {
        const x = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const y = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        // Side by side, two pixels tell one number from the next.
        if (x > -2 && y > 0) wrong.push(of + ": '" + one.text + "' and '" + other.text + "' overlap by " + x.toFixed(1) + ' x ' + y.toFixed(1));
      }
    });
  }
  return wrong;
})()
"""

# How many canvases with texts are in view.
COUNT = """
[...document.querySelectorAll('canvas')]
  .filter((canvas) => canvas.checkVisibility({ visibilityProperty: true }) && textsOf(canvas).length > 0).length
"""
