// How a curve is drawn on the canvas and in a legend: its colour, dashes, markers, bars and band.
(function () {
  "use strict";
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const FONT = "11px system-ui, sans-serif";
  const MAX_MARKED = 48;
  const DASHES = [undefined, [5, 3], [1.5, 2.5], [6, 2, 1.5, 2]];

  function colour(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
  function words(text) { return typeof text === "object" ? text[root.lang] || text.en : text; }
  // What a curve is called whatever the page's language is.
  function nameOf(curve) { return typeof curve.label === "object" ? curve.label.en : curve.label; }
  // Okabe and Ito's colours are made for white paper, and black is what is the user's own.
  function bright(hex) {
    if (!hex || hex === "#000000") { return colour("--ink"); }
    if (!dark.matches || root.classList.contains("paper")) { return hex; }
    const parts = [1, 3, 5].map(function (at) { return Math.min(255, Math.round(parseInt(hex.slice(at, at + 2), 16) * 1.3 + 25)); });
    return "rgb(" + parts.join(",") + ")";
  }
  const ruler = document.createElement("canvas").getContext("2d");
  function widest(names) {
    ruler.font = FONT;
    return Math.max(0, ...names.map(function (name) { return ruler.measureText(name).width; }));
  }

  // Markers, by matplotlib's letters: corners as [distance, turns from the top].
  function regular(corners, turn) { return Array.from({ length: corners }, function (_, at) { return [1, turn + at / corners]; }); }
  const cross = [[0.45, 0.125], [1.1, 0.19], [1.1, 0.31], [0.45, 0.375], [1.1, 0.44], [1.1, 0.56], [0.45, 0.625], [1.1, 0.69], [1.1, 0.81], [0.45, 0.875], [1.1, 0.94], [1.1, 1.06]];
  const MARKERS = {
    s: regular(4, 0.125), D: regular(4, 0), "^": regular(3, 0), v: regular(3, 0.5), "<": regular(3, 0.75), ">": regular(3, 0.25), p: regular(5, 0), h: regular(6, 0),
    d: [[1.15, 0], [0.65, 0.25], [1.15, 0.5], [0.65, 0.75]],
    P: cross,
    X: cross.map(function (corner) { return [corner[0], corner[1] + 0.125]; }),
    "*": Array.from({ length: 10 }, function (_, at) { return [at % 2 ? 0.5 : 1.25, at / 10]; }),
  };
  function mark(path, marker, x, y, size) {
    const corners = MARKERS[marker];
    if (!corners) { path.moveTo(x + size, y); path.arc(x, y, size * 0.9, 0, 2 * Math.PI); return; }
    corners.forEach(function (corner, at) {
      const angle = 2 * Math.PI * corner[1], far = corner[0] * size * 1.15;
      path[at ? "lineTo" : "moveTo"](x + far * Math.sin(angle), y - far * Math.cos(angle));
    });
    path.closePath();
  }
  function dashOf(curve) { return curve.dashed ? DASHES[curve.dashed] : curve.hollow ? [1.5, 2.5] : undefined; }

  // Each point of a curve on the canvas; what is out of sight is left out by the clip.
  function placesOf(u, figure, curve, visit) {
    (curve.x || figure.x).forEach(function (x, at) {
      if (x !== null && curve.y[at] !== null) { visit(u.valToPos(x, "x", true), u.valToPos(curve.y[at], "y", true), at); }
    });
  }
  function strokes(figure, curve) {
    return function (u) {
      const path = new Path2D();
      let pen = false;
      (curve.x || figure.x).forEach(function (x, at) {
        if (x === null || curve.y[at] === null) { pen = false; return; }
        path[pen ? "lineTo" : "moveTo"](u.valToPos(x, "x", true), u.valToPos(curve.y[at], "y", true));
        pen = true;
      });
      return { stroke: path, fill: null, clip: null, band: null, gaps: null, flags: 1 };
    };
  }
  // The surface between the ends of a curve's intervals.
  function fillBand(u, figure, curve) {
    const surface = new Path2D(), back = [];
    let pen = false;
    (curve.x || figure.x).forEach(function (x, at) {
      if (x === null || curve.low[at] === null) { return; }
      const left = u.valToPos(x, "x", true);
      surface[pen ? "lineTo" : "moveTo"](left, u.valToPos(curve.high[at], "y", true));
      back.push([left, u.valToPos(curve.low[at], "y", true)]);
      pen = true;
    });
    back.reverse().forEach(function (place) { surface.lineTo(place[0], place[1]); });
    surface.closePath();
    u.ctx.fillStyle = bright(curve.color);
    u.ctx.globalAlpha = 0.18;
    u.ctx.fill(surface);
    u.ctx.globalAlpha = 1;
  }
  function decorate(figure) {
    const barred = figure.curves.filter(function (curve) { return curve.low && !curve.band; });
    return function (u, series) {
      const curve = figure.curves[series - 1];
      if (!curve || !u.series[series].show) { return; }
      const ctx = u.ctx, ratio = uPlot.pxRatio, box = u.bbox, size = 3.2 * ratio;
      // Curves with intervals stand a little apart, so that these can be told from one another.
      const aside = curve.low && !curve.band ? (barred.indexOf(curve) - (barred.length - 1) / 2) * 2 * ratio : 0;
      const bars = new Path2D(), marks = new Path2D(), clip = new Path2D();
      clip.rect(box.left - size, box.top - size, box.width + 2 * size, box.height + 2 * size);
      const marked = curve.marker && (curve.shape === "points" || curve.y.length <= MAX_MARKED);
      placesOf(u, figure, curve, function (x, y, at) {
        if (curve.low && !curve.band && curve.high[at] > curve.low[at]) {
          bars.moveTo(x + aside, u.valToPos(curve.low[at], "y", true));
          bars.lineTo(x + aside, u.valToPos(curve.high[at], "y", true));
          [curve.low[at], curve.high[at]].forEach(function (end) {
            const level = u.valToPos(end, "y", true);
            bars.moveTo(x + aside - 2.5 * ratio, level);
            bars.lineTo(x + aside + 2.5 * ratio, level);
          });
        }
        // A line of one point is not seen.
        const isAlone = !curve.marker && !curve.shape && (curve.y[at - 1] ?? null) === null && (curve.y[at + 1] ?? null) === null;
        if (marked || isAlone) { mark(marks, curve.marker || "o", x + aside, y, marked ? size : size / 2); }
      });
      ctx.save();
      ctx.clip(clip);
      if (curve.band) { fillBand(u, figure, curve); }
      ctx.setLineDash([]);
      ctx.strokeStyle = bright(curve.color);
      ctx.fillStyle = curve.hollow ? colour("--card") : bright(curve.color);
      ctx.lineWidth = 1.1 * ratio;
      ctx.stroke(bars);
      ctx.fill(marks);
      if (curve.hollow) { ctx.stroke(marks); }
      ctx.restore();
    };
  }

  // A thin line at each moment, with its name where there is room.
  function moments(figure) {
    return function (u) {
      const ctx = u.ctx, ratio = uPlot.pxRatio, box = u.bbox, right = box.left + box.width;
      let free = -Infinity;
      ctx.save();
      ctx.font = 9 * ratio + "px system-ui, sans-serif";
      ctx.textAlign = "left";
      ctx.textBaseline = "top";
      ctx.lineWidth = ratio;
      (figure.marks || []).forEach(function (moment) {
        const x = u.valToPos(moment[0], "x", true), name = moment[1];
        if (x < box.left || x > right) { return; }
        ctx.strokeStyle = ctx.fillStyle = bright(moment[2]);
        ctx.globalAlpha = 0.5;
        ctx.setLineDash([2 * ratio, 3 * ratio]);
        ctx.beginPath();
        ctx.moveTo(x, box.top);
        ctx.lineTo(x, box.top + box.height);
        ctx.stroke();
        const end = x + 3 * ratio + widest([name]) * 9 / 11 * ratio;
        if (x < free || end > right) { return; }
        ctx.globalAlpha = 0.9;
        ctx.fillText(name, x + 3 * ratio, box.top + ratio);
        free = end + 5 * ratio;
      });
      ctx.restore();
    };
  }

  // What stands for a curve in a legend.
  function key(curve) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 12");
    svg.innerHTML = keyShapes(curve);
    return svg;
  }
  function keyShapes(curve) {
    const points = [], stroke = bright(curve.color), dash = dashOf(curve);
    if (curve.marker) { mark({ moveTo: add, lineTo: add, closePath: function () {}, arc: function () {} }, curve.marker, 12, 6, 3.4); }
    function add(x, y) { points.push(x.toFixed(1) + "," + y.toFixed(1)); }
    const line = curve.shape === "points" ? "" : '<path d="M0 6H24" stroke="' + stroke + '" stroke-width="1.8"' + (dash ? ' stroke-dasharray="' + dash.join(" ") + '"' : "") + "/>";
    const look = curve.hollow ? ' fill="none" stroke="' + stroke + '"' : ' fill="' + stroke + '"';
    return line + (!curve.marker ? "" : points.length > 1 ? '<polygon points="' + points.join(" ") + '"' + look + "/>" : '<circle cx="12" cy="6" r="3.2"' + look + "/>");
  }

  window.curves = {
    FONT: FONT, MAX_MARKED: MAX_MARKED, bright: bright, colour: colour, dashOf: dashOf, decorate: decorate, key: key, keyShapes: keyShapes, moments: moments,
    nameOf: nameOf, strokes: strokes, widest: widest, words: words,
  };
})();
