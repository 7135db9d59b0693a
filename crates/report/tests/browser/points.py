"""What is visible of the points of a page, in its drawn and in its interactive figures."""

from __future__ import annotations

import json

# Keys of the points in the list of the page.
KEYS = "[...document.querySelectorAll('#points li[data-key]')].map((item) => item.dataset.key)"

HELP = r"""
  const inView = (e) => e.checkVisibility({ visibilityProperty: true });
  const keysIn = (list) => (list ? list.split(' ') : []);
  // Text and lines that are not of points: axes, legends, limits.
  const data = (svg) => [...svg.querySelectorAll('path')]
    .filter((path) => !path.closest('.axes, .legend, .limit') || path.closest('.limit [data-point]'));
  const vertices = (path) => {
    const d = path.getAttribute('d');
    const numbers = (d.match(/-?(?:\d+\.?\d*|\.\d+)/g) || []).map(Number);
    let [x, y] = [0, 0];
    return numbers.filter((_, i) => i % 2 === 0).map((_, i) => {
      [x, y] = d.includes('l') && i > 0 ? [x + numbers[2 * i], y + numbers[2 * i + 1]] : [numbers[2 * i], numbers[2 * i + 1]];
      return x.toFixed(1) + ' ' + y.toFixed(1);
    });
  };
  // The figures that show points, by id.
  const figures = [...document.querySelectorAll('figure')].filter((f) => f.querySelector('.drawn'));
"""

# Of each drawn figure in view: the shapes that are visible, by number and place, without axes, legends and limits.
SHAPES = f"""
(() => {{ {HELP}
  const found = {{}};
  for (const figure of figures) {{
    if (figure.classList.contains('is-live')) continue;
    found[figure.id] = data(figure).map((path, number) => {{
      if (!inView(path) || !path.getAttribute('d')) return {{ line: true }};
      const box = path.getBBox();
      return {{ number, x: Math.round(10 * (box.x + box.width / 2)), y: Math.round(10 * (box.y + box.height / 2)),
        closed: path.getAttribute('d').endsWith('z'), line: path.hasAttribute('data-vertices') }};
    }}).filter((shape) => !shape.line);
  }}
  return found;
}})()
"""

# Of each drawn figure: the vertices of its lines through several points.
LINES = f"""
(() => {{ {HELP}
  const found = {{}};
  for (const figure of figures) {{
    found[figure.id] = [...figure.querySelectorAll('[data-vertices]')].map(vertices);
  }}
  return found;
}})()
"""

# Figures that still show something while all points are hidden.
NOT_EMPTY = f"""
(() => {{ {HELP}
  return figures.filter((figure) => {{
    const drawn = [...figure.querySelectorAll('.drawn svg, .live canvas')].some(inView);
    return drawn || !figure.innerText.includes('All points of this figure are hidden.');
  }}).map((figure) => figure.id);
}})()
"""


def click(key: str) -> str:
    """Checks or unchecks a point."""
    return f"document.querySelector(`#points li[data-key={json.dumps(key)}] input`).click()"


def _figures(key: str, is_shown: str) -> str:
    return f"""
(() => {{ {HELP}
  const key = {json.dumps(key)};
  const shown = [];
  const isChecked = (other) => document.querySelector(`#points li[data-key="${{other}}"] input`).checked;
  const others = (path) => keysIn(path.dataset.vertices).filter((other) => other !== key && isChecked(other)).length;
  const name = document.querySelector(`#points li[data-key="${{key}}"]`).innerText.trim();
  const source = document.getElementById('data');
  const runs = source && typeof uPlot !== 'undefined' ? JSON.parse(source.textContent).runs : [];
  for (const figure of figures) {{
    const only = (e) => keysIn(e.dataset.point).length === 1 && e.dataset.point === key;
    const own = [...figure.querySelectorAll('svg [data-point]')].filter(only);
    const through = [...figure.querySelectorAll('[data-vertices]')].filter((path) => keysIn(path.dataset.vertices).includes(key));
    const whole = figure.dataset.point === key ? [figure.querySelector('.drawn')] : [];
    if (figure.classList.contains('is-live')) {{
      const point = runs.filter((run) => run.kind === figure.dataset.kind).flatMap((run) => run.points).find((p) => p.key === key);
      if (!point) continue;
      const select = figure.querySelector('select');
      const before = select ? select.value : '';
      for (const option of select ? [...select.options] : [null]) {{
        if (option && option.disabled) continue;
        if (option) {{ select.value = option.value; select.dispatchEvent(new Event('change')); }}
        const chosen = option ? option.textContent : name;
        const labels = figure.chart() ? figure.chart().series.slice(1).map((s) => s.label) : [];
        const isRow = / several \\w+$/.test(chosen);
        const isIt = labels.some((label) => label.endsWith(name)
          || (isRow && chosen.startsWith(point.size) && label === point.depth)
          || (isRow && chosen.startsWith(point.depth) && label === point.size))
          || (labels.length > 0 && chosen.endsWith(name));
        if (isIt) {{ shown.push(figure.id); break; }}
      }}
      if (select) {{ select.value = before; select.dispatchEvent(new Event('change')); }}
    }} else if ({is_shown}) shown.push(figure.id);
  }}
  return shown;
}})()
"""


def seen(key: str) -> str:
    """The figures in which something of a point is visible."""
    return _figures(
        key,
        "own.some((e) => inView(e) && e.getBBox().width + e.getBBox().height > 0) || whole.some(inView)"
        " || through.some((path) => inView(path) && vertices(path).length > others(path))",
    )


def drawn(key: str) -> str:
    """The figures in which a point can be seen while all others are shown too."""
    return _figures(key, "own.length + through.length + whole.length > 0")
