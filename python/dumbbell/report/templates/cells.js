// Shows a cell's run over time when the reader picks it; each cell's charts lie compressed in the page.
(function () {
  "use strict";
  const cards = document.getElementById("cards");
  const labels = JSON.parse(document.getElementById("labels").textContent);
  const isPair = document.querySelector('[id^="series-1-"]') !== null;

  function text(which) { return document.querySelector('#words [data-word="' + which + '"]').cloneNode(true); }
  async function unpack(element) {
    const bytes = Uint8Array.from(atob(element.textContent), function (c) { return c.charCodeAt(0); });
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  function bilingual(words) {
    if (typeof words === "string") { return [words]; }
    return Object.keys(words).map(function (language) {
      const span = document.createElement("span");
      span.lang = language;
      span.textContent = words[language];
      return span;
    });
  }
  async function addSide(card, element, heading, sync) {
    const side = document.getElementById("side").content.firstElementChild.cloneNode(true);
    side.querySelector("p").textContent = heading + "seed " + element.dataset.seed + ", " + element.dataset.verdict;
    card.querySelector(".sides").append(side);
    (await unpack(element)).forEach(function (figure) {
      const box = document.createElement("div"), head = document.createElement("h4"), plot = document.createElement("div");
      box.className = "chart";
      plot.className = "plot";
      if (figure.y_names) { plot.style.height = Math.max(110, 50 + 14 * figure.y_names.length) + "px"; }
      const label = figure.title === figure.y_label || !figure.y_names ? figure.y_label : figure.title;
      head.append(...bilingual(figure.x_label || figure.name.startsWith("state-") ? figure.title : label));
      const link = figure.name.split("@")[1];
      if (link) { head.append(" · " + link); }
      box.append(head, plot);
      side.querySelector(".charts").append(box);
      window.charts.draw(plot, figure, sync);
    });
  }
  async function show(cell) {
    const old = document.getElementById("card-" + cell);
    if (old) { return old; }
    const card = document.getElementById("card").content.firstElementChild.cloneNode(true);
    card.id = "card-" + cell;
    card.querySelector(".name").textContent = labels[cell];
    cards.prepend(card);
    card.querySelector(".close").addEventListener("click", function () { card.remove(); window.charts.sweep(); });
    const elements = [0, 1].map(function (which) { return document.getElementById("series-" + which + "-" + cell); });
    if (!elements[0] && !elements[1]) { card.querySelector(".sides").append(text("none")); }
    try {
      for (let which = 0; which < 2; which += 1) {
        if (elements[which]) { await addSide(card, elements[which], isPair ? "AB"[which] + ": " : "", "cell-" + cell); }
      }
    } catch (error) {
      card.querySelector(".sides").append(text("cannot"));
      throw error;
    } finally {
      card.dataset.drawn = "1";
    }
    return card;
  }
  async function pick(cell) {
    const select = document.getElementById("cell");
    if (select) { select.value = cell; }
    const card = await show(cell);
    // With the keyboard, a reader goes on from there.
    card.focus({ preventScroll: true });
    card.scrollIntoView({ behavior: "smooth" });
  }
  const select = document.getElementById("cell");
  if (select) {
    labels.forEach(function (label, at) { select.add(new Option(label, at)); });
    select.addEventListener("change", function () { pick(Number(select.value)); });
  }
  document.addEventListener("pick", function (event) { pick(event.detail); });
  document.addEventListener("click", function (event) {
    const asked = event.target.closest("[data-cell]");
    if (asked) { pick(Number(asked.dataset.cell)); }
  });
  if (labels.length) { show(0); }
})();
