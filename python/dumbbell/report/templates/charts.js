// Draws the page's figures with uPlot. A `.plot` is followed by its figure as JSON (report/chart.py)
// and drawn when it comes near the screen. `.plot`s in one `.multiples` share its legend.
(function () {
  "use strict";
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const { FONT, MAX_MARKED, bright, colour, dashOf, decorate, key, keyShapes, moments, nameOf, strokes, widest, words } = window.curves;
  const drawn = new Map();
  const legends = new Map();
  const NUMBERS = ["x", "y", "low", "high", "x_range", "range", "marks", "states"];
  let printing = false;

  // The numbers as uPlot wants them: one x for all curves.
  function aligned(figure) {
    const tables = figure.curves.map(function (curve) {
      const x = curve.x || figure.x;
      const keep = x.map(function (_, at) { return at; }).filter(function (at) { return x[at] !== null; });
      return [keep.map(function (at) { return x[at]; }), keep.map(function (at) { return curve.y[at]; })];
    });
    return figure.curves.every(function (curve) { return !curve.x; })
      ? [figure.x].concat(figure.curves.map(function (curve) { return curve.y; }))
      : uPlot.join(tables);
  }
  // The ranges ask what is shown now: another figure of the same form can take its place.
  function rangeOfY(entry) {
    return function (u, low, high) {
      const figure = entry.figure;
      if (figure.y_names) { return [-0.3, figure.y_names.length - 0.7]; }
      if (figure.range) { return figure.range; }
      const top = high > 0 ? high * 1.06 : high;
      const bottom = low >= 0 && low < top * 0.6 ? 0 : low - 0.04 * (top - low);
      return bottom < top ? [bottom, top] : [bottom, bottom + 1];
    };
  }
  function rangeOfX(entry) {
    return function (u, low, high) {
      const figure = entry.figure, x = entry.data[0], first = x[0], last = x[x.length - 1], ends = figure.x_range || [first, last];
      // All that there is, unless the reader has chosen a part.
      if (low > first || high < last) { return [low, high]; }
      if (figure.ticks) {
        const room = Math.pow(ends[1] / ends[0], 0.04) || 1;
        return [ends[0] / room, ends[1] * room];
      }
      const room = figure.x_range ? 0 : ends[0] === ends[1] ? 1 : x.length > 2 * MAX_MARKED ? 0 : 0.04 * (ends[1] - ends[0]);
      return [ends[0] - room, ends[1] + room];
    };
  }
  // As many of the names as have room next to one another.
  function thinned(at, names) {
    return function (u) {
      let free = -Infinity;
      return at.map(function (value, index) {
        const middle = u.valToPos(value, "x"), half = widest([names[index]]) / 2;
        if (middle - half < free) { return ""; }
        free = middle + half + 5;
        return names[index];
      });
    };
  }
  function axesOf(figure, bare) {
    const grid = { stroke: colour("--grid"), width: 1 };
    const common = { stroke: colour("--soft"), grid: grid, ticks: grid, font: FONT, labelFont: FONT, labelSize: 18, labelGap: 0 };
    const x = Object.assign({ size: 28 }, common);
    const y = Object.assign({ size: function (u, values) { return values ? widest(values) + 20 : 52; } }, common);
    const fixed = figure.ticks || figure.values || (figure.names && figure.names.map(function (_, at) { return at; }));
    if (fixed) {
      Object.assign(x, { splits: function () { return fixed; }, filter: function (u, splits) { return splits; }, values: thinned(fixed, figure.names || fixed.map(String)) });
    } else if (figure.x_unit) {
      x.values = function (u, splits) { return splits.map(function (at) { return Math.round(at * 1e6) / 1e6 + " " + figure.x_unit; }); };
    }
    if (figure.x_label) { x.label = words(figure.x_label); }
    if (figure.y_names) { Object.assign(y, { splits: figure.y_names.map(function (_, at) { return at; }), values: figure.y_names, size: widest(figure.y_names) + 20 }); }
    if (!bare && !figure.y_names) { y.label = words(figure.y_label); }
    return [x, y];
  }
  function written(value) { return Math.abs(value) >= 1e4 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4))); }

  // What state each group is in at a time, and since when; `states` only where a page has them.
  function statesAt(figure, x) {
    return (figure.states || []).filter(function (each) { return each.times[0] <= x; }).map(function (each) {
      let at = each.times.length - 1;
      while (each.times[at] > x) { at -= 1; }
      const since = written(each.times[at]);
      return words({ en: each.label + ": " + each.names[at] + " since " + since + " s", ja: each.label + "：" + since + " s から " + each.names[at] });
    });
  }
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  function point(figure) {
    return function (u) {
      const at = u.cursor.idx, left = u.cursor.left;
      if (at === null || at === undefined || left < 0 || !u.over.matches(":hover")) { tip.hidden = true; return; }
      tip.replaceChildren();
      const head = document.createElement("strong"), x = u.data[0][at];
      head.textContent = figure.names ? figure.names[x] : written(x) + (figure.x_unit ? " " + figure.x_unit : "");
      tip.append(head);
      figure.curves.forEach(function (curve, index) {
        const own = u.cursor.idxs[index + 1];
        const value = own === null || own === undefined ? null : u.data[index + 1][own];
        if (!u.series[index + 1].show || value === null || value === undefined) { return; }
        const line = document.createElement("span"), dot = document.createElement("i");
        dot.style.background = bright(curve.color);
        const low = curve.low && !curve.x && curve.high[own] > curve.low[own] ? " [" + written(curve.low[own]) + ", " + written(curve.high[own]) + "]" : "";
        line.append(dot, words(curve.label || figure.y_label) + " " + (figure.y_names ? figure.y_names[value] || value : written(value)) + low);
        tip.append(line);
      });
      statesAt(figure, x).forEach(function (text) {
        const line = document.createElement("span");
        line.textContent = text;
        tip.append(line);
      });
      tip.hidden = false;
      const box = u.over.getBoundingClientRect(), x0 = box.left + left;
      tip.style.left = Math.max(4, x0 + tip.offsetWidth + 16 > root.clientWidth ? x0 - tip.offsetWidth - 10 : x0 + 12) + "px";
      tip.style.top = Math.min(root.clientHeight - tip.offsetHeight - 4, box.top + 8) + "px";
    };
  }

  function options(entry, size) {
    const figure = entry.figure;
    return {
      width: size[0], height: size[1], legend: { show: false }, pxAlign: 0, padding: [8, 20, 0, null],
      cursor: { drag: { x: true, y: false, dist: 5 }, points: { size: 5 }, y: false, sync: entry.sync ? { key: entry.sync } : undefined },
      scales: { x: Object.assign({ time: false, range: rangeOfX(entry) }, figure.ticks ? { distr: 3, log: 2 } : {}), y: { range: rangeOfY(entry) } },
      axes: axesOf(figure, entry.bare),
      series: [{}].concat(figure.curves.map(function (curve) {
        // Browsers draw a line of 1 pixel several times as fast as one of 1.2.
        return {
          label: words(curve.label), stroke: bright(curve.color), dash: dashOf(curve), width: curve.marker ? 1.8 : 1, fill: curve.shape === "area" ? bright(curve.color) + "40" : undefined,
          points: { show: false }, show: !entry.hidden.has(nameOf(curve)),
          paths: curve.shape === "points" ? function () { return null; } : curve.shape === "strokes" ? strokes(figure, curve) : figure.y_names || curve.shape === "steps" || curve.shape === "area" ? uPlot.paths.stepped({ align: 1 }) : undefined,
        };
      })),
      hooks: {
        drawAxes: [function (u) { moments(entry.figure)(u); }],
        drawSeries: [function (u, index) { decorate(entry.figure)(u, index); }],
        setCursor: [function (u) { point(entry.figure)(u); }],
      },
    };
  }
  function sizeOf(element) { return [Math.max(160, element.clientWidth), Math.max(110, element.clientHeight)]; }
  function build(element) {
    const entry = drawn.get(element);
    if (entry.plot) { entry.plot.destroy(); }
    element.replaceChildren();
    entry.plot = new uPlot(options(entry, sizeOf(element)), entry.data, element);
    entry.plot.over.addEventListener("mouseleave", function () { tip.hidden = true; });
    if (entry.figure.cells) {
      entry.plot.over.classList.add("picks");
      // uPlot stops the clicks that end a drag.
      entry.plot.over.addEventListener("click", function (event) {
        const left = event.clientX - entry.plot.over.getBoundingClientRect().left;
        const x = entry.data[0][entry.plot.posToIdx(left)], all = entry.figure.x;
        const near = all.reduce(function (best, each, at) { return Math.abs(each - x) < Math.abs(all[best] - x) ? at : best; }, 0);
        document.dispatchEvent(new CustomEvent("pick", { detail: entry.figure.cells[near] }));
      });
    }
  }

  // All of a figure but its numbers; one of another form needs another plot.
  function formOf(figure) {
    return JSON.stringify(figure, function (name, value) { return NUMBERS.includes(name) ? undefined : value; });
  }

  // A name per curve, above what it stands in; a click hides its curve, a double click the others.
  function legendOf(element, figures) {
    const curves = new Map();
    const hidden = new Set();
    const before = element.previousElementSibling;
    const isThere = before && before.classList.contains("legend");
    const legend = { box: isThere ? before : document.createElement("p"), hidden: hidden };
    legend.box.className = "legend";
    // What is named; a name that was hidden stays so.
    legend.fill = function (figures) {
      curves.clear();
      figures.forEach(function (figure) { figure.curves.forEach(function (curve) { if (curve.label && !curves.has(nameOf(curve))) { curves.set(nameOf(curve), curve); } }); });
    };
    legend.fill(figures);
    curves.forEach(function (curve, label) { if (curve.off) { hidden.add(label); } });
    legend.dress = function () {
      legend.box.replaceChildren();
      if (curves.size < 2) { return; }
      curves.forEach(function (curve, label) {
        const button = document.createElement("button");
        button.type = "button";
        button.setAttribute("aria-pressed", String(!hidden.has(label)));
        button.append(key(curve), words(curve.label));
        button.addEventListener("click", function () { if (!hidden.delete(label)) { hidden.add(label); } show(); });
        button.addEventListener("dblclick", function () { curves.forEach(function (_, other) { if (other !== label) { hidden.add(other); } }); hidden.delete(label); show(); });
        legend.box.append(button);
      });
    };
    function show() {
      Array.from(legend.box.children).forEach(function (button, at) { button.setAttribute("aria-pressed", String(!hidden.has(Array.from(curves.keys())[at]))); });
      drawn.forEach(function (entry) {
        if (entry.hidden !== hidden || !entry.plot) { return; }
        entry.figure.curves.forEach(function (curve, at) { entry.plot.setSeries(at + 1, { show: !hidden.has(nameOf(curve)) }); });
      });
    }
    legend.dress();
    if (!isThere) { element.before(legend.box); }
    legends.set(element, legend);
    return legend;
  }

  // As SVG, with its title and legend; also what is printed.
  async function picture(element, bare) {
    const entry = drawn.get(element), size = sizeOf(element);
    const box = document.createElement("div");
    await null; // lets charts that are about to be drawn be drawn to their own canvas
    const context = await window.recordSvg(function (done) {
      const how = options(Object.assign({}, entry, { bare: bare && entry.bare }), size);
      how.hooks.draw = [done];
      new uPlot(how, entry.data, box);
    });
    if (bare) { return context.svg("", 0); }
    const lines = [];
    let x = 8, y = 22;
    if (entry.figure.title) { lines.push('<text x="8" y="16" style="font:600 13px system-ui,sans-serif">' + window.escapeXml(words(entry.figure.title)) + "</text>"); y = 38; }
    entry.figure.curves.filter(function (curve) { return curve.label && !entry.hidden.has(nameOf(curve)); }).forEach(function (curve) {
      const label = words(curve.label), wide = 46 + widest([label]);
      if (x > 8 && x + wide > size[0]) { x = 8; y += 16; }
      lines.push('<g transform="translate(' + x + " " + (y - 10) + ')">' + keyShapes(curve) + '</g><text x="' + (x + 30) + '" y="' + y + '" style="font:' + FONT + '">' + window.escapeXml(label) + "</text>");
      x += wide;
    });
    return context.svg('<rect width="100%" height="100%" fill="#fff"/>' + lines.join(""), y + 8);
  }
  async function save(element, kind) {
    root.classList.add("paper");
    const svg = await picture(element, false);
    root.classList.remove("paper");
    let blob = new Blob([svg], { type: "image/svg+xml" });
    if (kind === "png") {
      const image = new Image();
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width * 3;
      canvas.height = image.height * 3;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      blob = await new Promise(function (done) { canvas.toBlob(done); });
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = (drawn.get(element).figure.name || "figure") + "." + kind;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }
  function saveButtons(element) {
    const box = document.createElement("span");
    box.className = "save";
    ["svg", "png"].forEach(function (kind) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind.toUpperCase();
      button.addEventListener("click", function () { save(element, kind); });
      box.append(button);
    });
    element.before(box);
  }

  // `figure`: as report/chart.py writes it. `sync`: charts of one key share their cursor.
  function prepare(element, figure, sync) {
    const shared = element.closest(".multiples");
    const holder = shared || element;
    let legend = legends.get(holder);
    if (!legend) {
      const all = shared ? Array.from(shared.querySelectorAll(".plot")).map(figureOf) : [figure];
      legend = legendOf(holder, all);
    }
    drawn.set(element, { figure: figure, data: aligned(figure), hidden: legend.hidden, bare: Boolean(shared || sync), sync: sync, plot: null });
    saveButtons(element);
  }
  function figureOf(element) { return JSON.parse(element.nextElementSibling.textContent); }
  function draw(element) {
    if (printing) { return; }
    if (!drawn.has(element)) { prepare(element, figureOf(element)); }
    build(element);
    element.dataset.drawn = "1";
  }
  const observer = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (entry.isIntersecting) { observer.unobserve(entry.target); draw(entry.target); }
    });
  }, { rootMargin: "600px" });
  function all() { return Array.from(document.querySelectorAll(".plot")); }
  function redrawAll() {
    legends.forEach(function (legend) { legend.dress(); });
    drawn.forEach(function (entry, element) {
      if (entry.plot) { build(element); }
    });
  }
  window.charts = {
    draw: function (element, figure, sync) { prepare(element, figure, sync); draw(element); },
    // Forgets what is no longer in the document.
    sweep: function () {
      drawn.forEach(function (entry, element) { if (!element.isConnected) { if (entry.plot) { entry.plot.destroy(); } drawn.delete(element); legends.delete(element); } });
    },
    // Draws another figure in the place of one, with the same part of the x axis if the reader chose one.
    redraw: function (element, figure, sync) {
      const entry = drawn.get(element);
      if (!entry) { prepare(element, figure, sync); draw(element); return; }
      const chosen = entry.plot && entry.plot.scales.x, all = entry.data[0];
      const isPart = chosen && chosen.min !== null && all.length > 1 && (chosen.min > all[0] || chosen.max < all[all.length - 1]);
      const form = formOf(figure), isSame = entry.plot && form === entry.form && !form.includes('"strokes"');
      Object.assign(entry, { figure: figure, data: aligned(figure), form: form });
      const size = isSame && sizeOf(element);
      if (isSame && size[0] === entry.plot.width && size[1] === entry.plot.height) {
        entry.plot.setData(entry.data);
      } else {
        const legend = legends.get(element.closest(".multiples") || element);
        legend.fill([figure]);
        legend.dress();
        build(element);
      }
      if (isPart) { entry.plot.setScale("x", { min: chosen.min, max: chosen.max }); }
    },
    words: words,
    written: written,
  };
  all().forEach(function (element) { observer.observe(element); });
  dark.addEventListener("change", redrawAll);
  document.querySelectorAll(".language").forEach(function (button) { button.addEventListener("click", redrawAll); });
  // Paper gets lines, not pixels.
  window.addEventListener("beforeprint", function () {
    printing = true;
    legends.forEach(function (legend) { legend.dress(); });
    all().forEach(function (element) {
      if (!drawn.has(element)) { prepare(element, figureOf(element)); }
      picture(element, true).then(function (svg) {
        const entry = drawn.get(element);
        if (entry.plot) { entry.plot.destroy(); entry.plot = null; }
        element.innerHTML = svg;
      });
    });
  });
  window.addEventListener("afterprint", function () {
    printing = false;
    legends.forEach(function (legend) { legend.dress(); });
    drawn.forEach(function (_, element) { build(element); });
  });
  let width = window.innerWidth, timer = 0;
  window.addEventListener("resize", function () {
    if (window.innerWidth === width) { return; }
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(redrawAll, 150);
  });
})();
