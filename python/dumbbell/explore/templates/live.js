// Follows a run in real time (live_page.py), and changes its path by sliders.
(function () {
  "use strict";
  const controls = window.explore.controls, make = controls.make, panels = new Map(), pending = new Map();
  let sections = [], sending = false;
  function $(id) { return document.getElementById(id); }
  function problem(message) {
    $("problem").hidden = !message;
    $("problem").querySelector("p").textContent = message;
  }
  function panelOf(figure) {
    if (!panels.has(figure.name)) {
      const panel = { head: make("h3"), plot: make("div", { class: "plot", role: "img" }) };
      $("panels").append(make("figure", { class: panels.size ? "panel" : "panel first" }, panel.head, panel.plot));
      panels.set(figure.name, panel);
    }
    return panels.get(figure.name);
  }
  function draw(now) {
    $("caption").textContent = now.caption;
    now.figures.filter(function (figure) { return figure.curves.length; }).forEach(function (figure) {
      const panel = panelOf(figure);
      panel.head.replaceChildren(...controls.both(figure.y_label));
      panel.plot.setAttribute("aria-label", window.charts.words(figure.y_label));
      window.charts.redraw(panel.plot, figure, "live");
    });
    document.documentElement.dataset.drawn = String(now.time_s);
  }
  // Sets a value; why it is refused, or not sent.
  async function refusalOf(name, value) {
    try {
      const response = await fetch("set", { method: "POST", body: JSON.stringify({ name: name, value: value }) });
      return response.ok ? "" : await response.text();
    } catch (error) {
      return String(error.message);
    }
  }
  // The latest value of each slider, one request at a time.
  async function send() {
    if (sending) { return; }
    sending = true;
    try {
      for (const [name, value] of pending) {
        pending.delete(name);
        const refusal = await refusalOf(name, value);
        problem(refusal);
        controls.mark(refusal ? [name] : []);
      }
    } finally {
      sending = false;
    }
  }
  controls.onChange(function (name, value) {
    sections.forEach(function (section) { section.controls.forEach(function (control) { if (control.name === name) { control.value = value; } }); });
    pending.set(name, value);
    send();
  });
  document.querySelectorAll(".language").forEach(function (button) {
    button.addEventListener("click", function () { controls.forget(); controls.show(sections, false); });
  });
  if ($("end")) { $("end").addEventListener("click", function () { fetch("end", { method: "POST", body: "{}" }); }); }
  function ended() { $("progress").replaceChildren(...controls.word("ended")); }
  window.explore.lines("follow", {}, function (line) {
    if (line.kind === "controls") { sections = line.sections; controls.show(sections, false); }
    if (line.kind === "now") { draw(line); }
  }).then(ended, ended);
})();
