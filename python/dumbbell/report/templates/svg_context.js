// A canvas context that writes SVG: what uPlot draws, for export and print.
// `recordSvg(build)` calls `build(done)`, which makes a uPlot and calls `done(u)` once it is drawn.
(function () {
  "use strict";
  const round = function (value) { return Math.round(value * 100) / 100; };
  const escaped = function (text) {
    return String(text).replace(/[&<>"]/g, function (c) { return { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[c]; });
  };
  class Path {
    constructor(other) { this.d = other ? other.d : ""; }
    moveTo(x, y) { this.d += "M" + round(x) + " " + round(y); }
    lineTo(x, y) { this.d += (this.d ? "L" : "M") + round(x) + " " + round(y); }
    bezierCurveTo(a, b, c, d, x, y) { this.d += "C" + [a, b, c, d, x, y].map(round).join(" "); }
    rect(x, y, width, height) { this.d += "M" + round(x) + " " + round(y) + "h" + round(width) + "v" + round(height) + "h" + round(-width) + "z"; }
    // Only whole circles are drawn.
    arc(x, y, radius) { this.d += "M" + round(x - radius) + " " + round(y) + "a" + [radius, radius, 0, 1, 0, 2 * radius, 0].map(round).join(" ") + "a" + [radius, radius, 0, 1, 0, -2 * radius, 0].map(round).join(" "); }
    closePath() { this.d += "z"; }
  }
  class Context extends Path {
    constructor(canvas) {
      super();
      this.canvas = canvas;
      this.parts = [];
      this.saved = [];
      this.clips = 0;
      Object.assign(this, { strokeStyle: "#000", fillStyle: "#000", lineWidth: 1, lineJoin: "miter", lineCap: "butt", globalAlpha: 1, font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic", dash: [], transform: "", clipped: [] });
    }
    save() { this.saved.push(Object.assign({}, this)); }
    restore() {
      const old = this.saved.pop();
      ["strokeStyle", "fillStyle", "lineWidth", "lineJoin", "lineCap", "globalAlpha", "font", "textAlign", "textBaseline", "dash", "transform", "clipped"].forEach(function (name) { this[name] = old[name]; }, this);
    }
    translate(x, y) { this.transform += "translate(" + round(x) + " " + round(y) + ")"; }
    rotate(angle) { this.transform += "rotate(" + round(angle * 180 / Math.PI) + ")"; }
    setLineDash(dash) { this.dash = dash || []; }
    beginPath() { this.d = ""; }
    clearRect() { this.parts = []; }
    fillRect(x, y, width, height) { const path = new Path(); path.rect(x, y, width, height); this.fill(path); }
    clip(path) {
      const id = "clip-" + Context.number + "-" + (this.clips += 1);
      this.add('<clipPath id="' + id + '"><path d="' + (path || this).d + '"/></clipPath>', []);
      this.clipped = this.clipped.concat(id);
    }
    add(element, clipped) {
      const before = clipped.map(function (id) { return '<g clip-path="url(#' + id + ')">'; }).join("");
      this.parts.push(before + element + "</g>".repeat(clipped.length));
    }
    look() { return (this.transform ? ' transform="' + this.transform + '"' : "") + (this.globalAlpha < 1 ? ' opacity="' + this.globalAlpha + '"' : ""); }
    stroke(path) {
      const dash = this.dash.length ? ' stroke-dasharray="' + this.dash.join(" ") + '"' : "";
      this.add('<path d="' + (path || this).d + '" fill="none" stroke="' + escaped(this.strokeStyle) + '" stroke-width="' + round(this.lineWidth) + '" stroke-linejoin="' + this.lineJoin + '" stroke-linecap="' + this.lineCap + '"' + dash + this.look() + "/>", this.clipped);
    }
    fill(path) { this.add('<path d="' + (path || this).d + '" fill="' + escaped(this.fillStyle) + '"' + this.look() + "/>", this.clipped); }
    fillText(text, x, y) {
      const anchor = { center: "middle", right: "end", end: "end" }[this.textAlign] || "start";
      const shift = { top: 0.8, middle: 0.35, bottom: -0.2 }[this.textBaseline] || 0;
      this.add('<text x="' + round(x) + '" y="' + round(y) + '" dy="' + shift + 'em" text-anchor="' + anchor + '" fill="' + escaped(this.fillStyle) + '" style="font:' + escaped(this.font) + '"' + this.look() + ">" + escaped(text) + "</text>", this.clipped);
    }
    // `above`: SVG over the drawing, of a height; the drawing's pixels may be finer than the page's.
    svg(above, height) {
      const ratio = uPlot.pxRatio, width = this.canvas.width / ratio, all = this.canvas.height / ratio + height;
      return '<svg xmlns="http://www.w3.org/2000/svg" width="' + round(width) + '" height="' + round(all) + '" viewBox="0 0 ' + round(width) + " " + round(all) + '">' +
        above + '<g transform="translate(0 ' + height + ") scale(" + 1 / ratio + ')">' + this.parts.join("") + "</g></svg>";
    }
  }
  Context.number = 0;

  const real = { path: window.Path2D, context: HTMLCanvasElement.prototype.getContext };
  let under_way = 0;
  // uPlot draws in a microtask, so all of this is over before the page does anything else.
  window.recordSvg = function (build) {
    under_way += 1;
    window.Path2D = Path;
    HTMLCanvasElement.prototype.getContext = function () { Context.number += 1; return new Context(this); };
    return new Promise(function (resolve) {
      build(function (u) {
        under_way -= 1;
        if (under_way === 0) { window.Path2D = real.path; HTMLCanvasElement.prototype.getContext = real.context; }
        resolve(u.ctx);
      });
    });
  };
  window.escapeXml = escaped;
})();
