(function () {
  "use strict";
  const cards = document.getElementById("cards");
  const labels = JSON.parse(document.getElementById("labels").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const drawn = [];
  const FONT = "11px system-ui, sans-serif";

  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function words(text) {
    const found = document.querySelector('#words [data-word="' + text + '"]');
    const span = document.createElement("span");
    span.append(...(found ? Array.from(found.cloneNode(true).childNodes) : [text]));
    return span;
  }
  // Okabe and Ito's colours are made for white paper.
  function bright(hex) {
    if (!hex) { return colour("--ink"); }
    if (!dark.matches || document.documentElement.classList.contains("paper")) { return hex; }
    const parts = [1, 3, 5].map(function (at) { return Math.min(255, Math.round(parseInt(hex.slice(at, at + 2), 16) * 1.3 + 25)); });
    return "rgb(" + parts.join(",") + ")";
  }
  async function unpack(element) {
    const bytes = Uint8Array.from(atob(element.textContent), function (c) { return c.charCodeAt(0); });
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  // Lines of one group are told apart by their strength.
  function strokes(lines) {
    const seen = {};
    return lines.map(function (line) {
      const nth = seen[line.color] = (seen[line.color] || 0) + 1;
      return { color: line.color, dash: nth > 1 ? [[6, 2], [2, 2], [8, 3, 2, 3]][(nth - 2) % 3] : undefined };
    });
  }
  function axis(extra) {
    const grid = { stroke: colour("--grid"), width: 1 };
    return Object.assign({ stroke: colour("--soft"), grid: grid, ticks: grid, font: FONT }, extra);
  }
  // All that there is, and not what a reader has chosen.
  function whole(u, low, high) {
    const times = u.data[0];
    return low <= times[0] && high >= times[times.length - 1];
  }
  function width_of(names) {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = FONT;
    return Math.max(...names.map(function (name) { return canvas.measureText(name).width; }));
  }
  function options(chart, until, sync, width) {
    const names = chart.names || [];
    const looks = strokes(chart.lines);
    return {
      width: width,
      height: names.length ? Math.max(110, 50 + 14 * names.length) : 165,
      cursor: { sync: { key: sync }, drag: { x: true, y: false } },
      legend: {
        show: chart.lines.length > 1, live: width > 420,
        markers: { dash: function (u, at) { return looks[at - 1] && looks[at - 1].dash ? "dashed" : "solid"; } },
      },
      scales: { x: { time: false, range: function (u, low, high) { return whole(u, low, high) ? [0, until] : [low, high]; } }, y: { range: function (u, low, high) {
        if (names.length) { return [-0.3, names.length - 0.7]; }
        const top = high > 0 ? high * 1.06 : high;
        const bottom = low >= 0 && low < top * 0.6 ? 0 : low - 0.04 * (top - low);
        return bottom < top ? [bottom, top] : [bottom - 1, bottom + 1];
      } } },
      axes: [
        axis({ size: 30, values: function (u, splits) { return splits.map(function (at) { return at + " s"; }); } }),
        axis(names.length
          ? { size: width_of(names) + 18, splits: names.map(function (_, at) { return at; }), values: names }
          : { size: function (u, values) { return values ? Math.max(52, width_of(values) + 18) : 52; } }),
      ],
      series: [{ label: "t", value: function (u, value) { return value === null || value === undefined ? "" : value.toFixed(2) + " s"; } }].concat(chart.lines.map(function (line, at) {
        return {
          label: line.name, stroke: bright(looks[at].color), dash: looks[at].dash, width: 1.2,
          points: { show: false }, spanGaps: false,
          value: function (u, value) { return value === null || value === undefined ? "" : (names[value] || String(value)); },
        };
      })),
    };
  }
  function drawCharts(side, document_, sync) {
    side.replaceChildren();
    const plots = [];
    document_.charts.forEach(function (chart) {
      const box = document.createElement("div");
      box.className = "chart";
      const head = document.createElement("h4");
      head.append(words(chart.title));
      if (chart.of) { head.append(" · " + chart.of); }
      if (chart.unit) { head.append(" (", words(chart.unit), ")"); }
      box.append(head);
      side.append(box);
      const data = [chart.time || document_.time].concat(chart.lines.map(function (line) { return line.values; }));
      plots.push(new uPlot(options(chart, document_.until, sync, Math.max(200, box.clientWidth)), data, box));
    });
    return plots;
  }
  async function addSide(card, element, heading) {
    const side = document.createElement("div");
    side.className = "side";
    const body = document.createElement("div");
    body.className = "charts";
    const head = document.createElement("p");
    head.className = "soft";
    head.textContent = heading + "seed " + element.dataset.seed + ", " + element.dataset.verdict;
    side.append(head, body);
    card.querySelector(".sides").append(side);
    const document_ = await unpack(element);
    return { side: body, document: document_ };
  }
  async function show(cell) {
    const old = document.getElementById("card-" + cell);
    if (old) { old.scrollIntoView({ behavior: "smooth" }); return old; }
    const card = document.getElementById("card").content.firstElementChild.cloneNode(true);
    card.id = "card-" + cell;
    card.querySelector(".name").textContent = labels[cell];
    cards.prepend(card);
    const elements = [0, 1].map(function (which) { return document.getElementById("series-" + which + "-" + cell); });
    const isPair = document.querySelector('[id^="series-1-"]') !== null;
    const entry = { card: card, sides: [], plots: [], sync: "sync-" + cell };
    card.querySelector(".close").addEventListener("click", function () {
      entry.plots.forEach(function (plot) { plot.destroy(); });
      drawn.splice(drawn.indexOf(entry), 1);
      card.remove();
    });
    drawn.push(entry);
    if (!elements[0] && !elements[1]) { card.querySelector(".sides").append(words("none")); }
    try {
      for (let which = 0; which < 2; which += 1) {
        if (elements[which]) { entry.sides.push(await addSide(card, elements[which], isPair ? "AB"[which] + ": " : "")); }
      }
    } catch (error) {
      card.querySelector(".sides").append(words("cannot"));
    }
    redraw(entry);
    card.dataset.drawn = "1";
    return card;
  }
  function redraw(entry) {
    entry.plots.forEach(function (plot) { plot.destroy(); });
    entry.plots = [];
    entry.sides.forEach(function (each) {
      entry.plots = entry.plots.concat(drawCharts(each.side, each.document, entry.sync));
    });
  }
  function redrawAll() { drawn.forEach(redraw); }

  const select = document.getElementById("cell");
  if (select) {
    labels.forEach(function (label, at) { select.add(new Option(label, at)); });
    select.addEventListener("change", function () { if (select.value !== "") { show(Number(select.value)); } });
  }
  document.addEventListener("click", async function (event) {
    const asked = event.target.closest("[data-cell]");
    if (!asked) { return; }
    const card = await show(Number(asked.dataset.cell));
    // With the keyboard one goes on from there.
    if (card) { card.focus({ preventScroll: true }); card.scrollIntoView({ behavior: "smooth" }); }
  });
  dark.addEventListener("change", redrawAll);
  if (dark.matches) {
    window.addEventListener("beforeprint", redrawAll);
    window.addEventListener("afterprint", redrawAll);
  }
  document.querySelectorAll(".language").forEach(function (button) { button.addEventListener("click", redrawAll); });
  let width = window.innerWidth;
  let timer = 0;
  window.addEventListener("resize", function () {
    if (window.innerWidth === width) { return; }
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(redrawAll, 150);
  });
  if (!select && labels.length) { show(0); }
})();
