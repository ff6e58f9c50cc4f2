// The page: what is asked when a control moves, and how its pictures are shown.
(function () {
  "use strict";
  const source = window.explore.source, grid = window.explore.grid, controls = window.explore.controls;
  const make = controls.make, word = controls.word, plain = controls.plain;
  const QUIET_MS = 500;
  // A picture that takes longer than this to come does not hold up what was moved since.
  const PATIENCE_MS = 500;
  // After this what is shown is dimmed: it is not what the controls say.
  const LATE_MS = 800;
  function $(id) { return document.getElementById(id); }

  let state = "", scenario = null, picture = null, pinned = null, old = null;
  let pending = new Map(), flight = null, series = [], timer = 0, quiet = 0, late = 0, again = false, version = 0;
  // Names of controls whose values were refused.
  let refused = [];
  const sides = { a: { box: $("side-a"), panels: new Map() }, b: { box: $("side-b"), panels: new Map() } };

  // ---- what is shown ----

  function isThere(figure) { return figure && figure.curves && figure.curves.length; }
  // Of two pictures side by side the y axes have the same ends.
  function extent(figure) {
    let low = Infinity, high = -Infinity;
    figure.curves.forEach(function (curve) { curve.y.forEach(function (y) { if (y !== null) { low = Math.min(low, y); high = Math.max(high, y); } }); });
    return [low >= 0 && low < 0.6 * high ? 0 : low, high];
  }
  function shared(figure, other) {
    if (!isThere(other) || figure.y_names) { return figure; }
    const one = extent(figure), two = extent(other), low = Math.min(one[0], two[0]), high = Math.max(one[1], two[1]);
    return high > low ? Object.assign({}, figure, { range: [low, high + 0.06 * (high - low)] }) : figure;
  }
  // The curves of before a file was saved, dashed, behind those of now.
  function overlaid(figure, before) {
    if (!isThere(before) || figure.y_names) { return figure; }
    const label = { en: plain("before"), ja: plain("before") };
    const curves = before.curves.map(function (curve) {
      return Object.assign({}, curve, { x: curve.x || before.x, dashed: 2, label: { en: words(curve.label) + " · " + label.en, ja: words(curve.label) + " · " + label.ja } });
    });
    return Object.assign({}, figure, { curves: curves.concat(figure.curves.map(function (curve) { return Object.assign({}, curve, { x: curve.x || figure.x }); })) });
  }
  function words(text) { return text === undefined || text === "" ? "" : window.charts.words(text); }
  function named(found, name) { return found && found.figures.find(function (figure) { return figure.name === name; }); }

  function numbers(details, figure) {
    const old_table = details.querySelector("table");
    if (old_table) { old_table.remove(); }
    const first = figure.curves[0], x = first ? first.x || figure.x : [], every = Math.max(1, Math.ceil(x.length / 60));
    const table = make("table"), head = make("tr", {}, make("th", { scope: "col" }, ...word("time")));
    figure.curves.forEach(function (curve) { head.append(make("th", { scope: "col" }, words(curve.label) || words(figure.y_label))); });
    table.append(make("caption", {}, words(figure.y_label)), make("thead", {}, head));
    const body = make("tbody");
    for (let at = 0; at < x.length; at += every) {
      const row = make("tr", {}, make("th", { scope: "row" }, String(x[at])));
      figure.curves.forEach(function (curve) {
        const own = curve.x || figure.x, place = own === x ? at : nearest(own, x[at]), y = curve.y[place];
        row.append(make("td", {}, y === null || y === undefined ? "–" : figure.y_names ? figure.y_names[y] || String(y) : window.charts.written(y)));
      });
      body.append(row);
    }
    table.append(body);
    details.append(table);
  }
  function nearest(all, x) {
    let low = 0, high = all.length - 1;
    while (low < high) { const middle = (low + high) >> 1; if (all[middle] < x) { low = middle + 1; } else { high = middle; } }
    return low;
  }
  function panelOf(side, name, isFirst) {
    const found = sides[side].panels.get(name);
    if (found) { return found; }
    const head = make("h3"), plot = make("div", { class: "plot", role: "img" }), details = make("details", {}, make("summary", {}, ...word("numbers")));
    const panel = { element: make("figure", { class: isFirst ? "panel first" : "panel" }, head, plot, details), head: head, plot: plot, figure: null };
    details.addEventListener("toggle", function () { if (details.open) { numbers(details, panel.figure); } });
    panel.details = details;
    sides[side].panels.set(name, panel);
    return panel;
  }
  // Only what changes is written: the browser lays out again what is.
  function namePanel(panel, figure, where) {
    const title = figure.y_names ? figure.title : figure.y_label, said = JSON.stringify([title, figure.title, document.documentElement.lang]);
    if (panel.said === said) { return; }
    panel.said = said;
    panel.head.replaceChildren(...controls.both(title), where ? " · " + where : "");
    panel.plot.setAttribute("aria-label", words(figure.title) + ", " + plain("numbers"));
  }
  function drawSide(side, found, other, before) {
    const own = sides[side];
    if (!own.grid) {
      own.grid = make("div", { class: "panels" });
      own.table = make("div", { class: "scroll", tabindex: "0" });
      own.box.append(own.grid, own.table);
    }
    const names = found.figures.map(function (figure) { return figure.name; });
    own.panels.forEach(function (panel, name) { if (!names.includes(name)) { panel.element.remove(); own.panels.delete(name); } });
    // All panels first: how wide one is depends on how many there are.
    found.figures.forEach(function (figure, at) {
      const panel = panelOf(side, figure.name, at === 0);
      if (own.grid.children[at] !== panel.element) { own.grid.insertBefore(panel.element, own.grid.children[at] || null); }
    });
    found.figures.forEach(function (figure) {
      const panel = panelOf(side, figure.name), where = figure.name.split("@")[1];
      const shown = overlaid(shared(figure, named(other, figure.name)), named(before, figure.name));
      panel.figure = figure;
      namePanel(panel, figure, where);
      shown.states = found.states;
      window.charts.redraw(panel.plot, shown, "time-" + side);
      if (panel.details.open) { numbers(panel.details, figure); }
    });
    window.charts.sweep();
    own.table.replaceChildren(groupsTable(found), linksTable(found));
  }
  function cell(value, digits, unit) { return value === null || value === undefined ? "–" : value.toFixed(digits) + (unit || ""); }
  function tableOf(heads, rows) {
    const table = make("table", { class: "rows whole" });
    table.append(make("thead", {}, make("tr", {}, ...heads.map(function (head) { return make("th", { scope: "col" }, ...word(head[0]), head[1] ? " (" + head[1] + ")" : ""); }))));
    table.append(make("tbody", {}, ...rows));
    return table;
  }
  function groupsTable(found) {
    return tableOf([["group"], ["flows"], ["goodput", "Mbit/s"], ["flow", "Mbit/s"], ["share", "%"], ["rtt", "ms"], ["retransmitted", "%"]], found.rows.map(function (row) {
      const head = make("th", { scope: "row" }, make("span", { class: "dot", style: "background:" + row.color }), row.label);
      return make("tr", {}, head, ...[String(row.flows), cell(row.goodput_mbps, 2), cell(row.per_flow_mbps, 2), cell(row.share_pct, 1), cell(row.rtt_ms, 1), cell(row.retransmitted_pct, 2)].map(function (text) { return make("td", {}, text); }));
    }));
  }
  function linksTable(found) {
    return tableOf([["link"], ["used", "%"], ["delay", "ms"], ["p95", "ms"], ["dropped", "%"]], found.links.map(function (row) {
      return make("tr", {}, make("th", { scope: "row" }, row.label), ...[cell(row.used_pct, 1), cell(row.delay_mean_ms, 1), cell(row.delay_p95_ms, 1), cell(row.dropped_pct, 2)].map(function (text) { return make("td", {}, text); }));
    }));
  }
  // What the kernel's flows got, next to the simulated ones.
  function confirmed(found) {
    const box = $("confirmed");
    box.hidden = false;
    const badge = box.querySelector(".badge");
    badge.textContent = found.verdict;
    badge.className = "badge " + ({ OK: "good", WARN: "warn" }[found.verdict] || "bad");
    badge.title = found.reasons.join("; ");
    const rows = found.rows.flatMap(function (row, at) { return [[row, picture.rows[at], "simulated"], [row, row, "measured"]]; });
    box.querySelector(".scroll").replaceChildren(tableOf([["group"], ["goodput", "Mbit/s"], ["share", "%"], ["rtt", "ms"], ["retransmitted", "%"]], rows.map(function (each) {
      const head = make("th", { scope: "row" }, make("span", { class: "dot", style: "background:" + each[0].color }), each[0].label + ", ", ...word(each[2]));
      return make("tr", {}, head, ...[cell(each[1].goodput_mbps, 2), cell(each[1].share_pct, 1), cell(each[1].rtt_ms, 1), cell(each[1].retransmitted_pct, 2)].map(function (text) { return make("td", {}, text); }));
    })));
  }
  // The kernel's numbers are no longer of what is shown: another scenario, or another version of its file.
  function stale() {
    version += 1;
    if (source.isLive) { $("confirmed").hidden = true; }
  }
  function draw() {
    if (pinned) { drawSide("a", pinned, picture, null); }
    drawSide("b", picture, pinned, old);
    const badge = $("verdict");
    badge.textContent = picture.verdict;
    badge.className = "badge " + ({ OK: "good", WARN: "warn" }[picture.verdict] || "bad");
    $("answer").replaceChildren(...controls.both(picture.answer));
    $("reasons").replaceChildren(...picture.reasons.slice(picture.verdict === "OK" ? 0 : 1).concat(picture.notes).map(function (text) { return make("li", {}, text); }));
  }

  // ---- what is asked ----

  function problem(message, names) {
    const box = $("problem"), line = message.match(/([^\s/:]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)/);
    if (names || !message) { refused = message ? names : []; }
    controls.mark(refused);
    // What could be taken away is not what a refused control says.
    document.querySelectorAll("#link, #json, #save, #kernel, [data-text]").forEach(function (button) { button.disabled = refused.length > 0; });
    box.hidden = !message;
    if (!message) { return; }
    box.querySelector("p").textContent = line ? line[1] + ":" + line[2] + ": " + line[3] : message.split("\n")[0];
    box.querySelector("pre").textContent = message.includes("\n") ? message : "";
  }
  function progress(...parts) { $("progress").replaceChildren(...parts); }
  function change(name, value) {
    if (value === "" && (name === "+group" || name === "-group")) { return; }
    old = null;
    pending.set(name, value);
    pump();
  }
  // One request at a time: the next one goes out when the first picture of this one is there.
  function pump() {
    if (flight && !flight.isDrawn && performance.now() - flight.began < PATIENCE_MS) {
      clearTimeout(timer);
      timer = setTimeout(pump, PATIENCE_MS);
      return;
    }
    if (!pending.size && !again) { return; }
    // What a flight without an answer asked for is asked again with what was moved since.
    const asked = flight && !flight.isTaken ? flight.changes : [];
    const changes = Array.from(new Map(asked.concat(Array.from(pending)))), mine = { began: performance.now(), isDrawn: false, changes: changes };
    pending = new Map();
    again = false;
    flight = mine;
    clearTimeout(quiet);
    clearTimeout(late);
    late = setTimeout(function () { document.body.classList.add("late"); }, LATE_MS);
    $("stage").setAttribute("aria-busy", "true");
    progress(...word("running"), " …");
    source.show("b", state, changes, series, function (line) { if (mine === flight) { take(mine, line); } }).catch(function () {
      if (mine === flight) { problem(plain("gone")); progress(); }
    }).finally(function () {
      if (mine === flight) { flight = null; pump(); }
      // What is shown is what the controls say, or the reason why it is not.
      if (!flight) { $("stage").setAttribute("aria-busy", "false"); onTime(); }
    });
  }
  function onTime() {
    clearTimeout(late);
    document.body.classList.remove("late");
  }
  function taken(mine, toml) {
    problem("");
    if (state !== toml) { stale(); }
    state = toml;
    mine.isTaken = true;
  }
  function take(mine, line) {
    if (line.kind === "scenario") {
      scenario = line;
      taken(mine, line.toml);
      controls.show(line.sections.map(withoutMoving), source.isLive);
      $("title").textContent = line.title || (grid && grid.title) || "dumbbell explore";
      fillAxes();
      namePinned();
    } else if (line.kind === "picture") {
      const isLatest = !pending.size;
      picture = line;
      taken(mine, line.toml);
      mine.isDrawn = true;
      onTime();
      // The next run begins while this picture is drawn.
      if (!isLatest) { flight = null; pump(); }
      draw();
      if (isLatest && line.part === "beginning") {
        progress(line.seconds.toFixed(1) + " s: ", ...word("beginning"));
      } else if (isLatest) {
        progress(line.took_s ? (1e3 * line.took_s).toFixed(0) + " ms" : "");
        fillSeries();
        settle();
      }
      // Which part of the run that the controls ask for this is; none, if they have moved on.
      document.documentElement.dataset.latest = isLatest ? line.part : "";
      document.documentElement.dataset.drawn = String(Number(document.documentElement.dataset.drawn || 0) + 1);
    } else if (line.kind === "overtaken") {
      // By an older request, which a busy server took later: it is asked again.
      if (!mine.isTaken) { pending = new Map(mine.changes.concat(Array.from(pending))); }
      again = true;
    } else if (line.kind === "error" && !mine.isTaken && mine.changes.length > 1) {
      // They may not fit together any more, as a parameter and another algorithm; the last one counts.
      pending = new Map([mine.changes[mine.changes.length - 1]].concat(Array.from(pending)));
    } else if (line.kind === "error") {
      problem(line.message, mine.isTaken ? [] : mine.changes.map(function (each) { return each[0]; }));
      progress();
    }
  }
  // What was moved since the request went out stays where it is.
  function withoutMoving(section) {
    return Object.assign({}, section, { controls: section.controls.map(function (control) {
      return pending.has(control.name) ? Object.assign({}, control, { value: pending.get(control.name) }) : control;
    }) });
  }
  function settle() {
    clearTimeout(quiet);
    quiet = setTimeout(function () {
      $("said").textContent = picture.verdict + ". " + words(picture.answer);
      history.replaceState(null, "", "#" + encodeURIComponent(state));
      sweep();
    }, QUIET_MS);
  }

  // ---- the sweep below ----

  const metrics = JSON.parse($("metrics").textContent);
  let points = null, sweeping = 0;
  // Made here: charts.js draws by itself what the page has from the start.
  $("sweep-box").append(make("div", { class: "plot", id: "sweep-plot", role: "img", "aria-label": "sweep" }));
  function fillAxes() {
    const select = $("axis"), chosen = select.value, groups = [];
    scenario.sections.forEach(function (section) {
      const usable = section.controls.filter(function (control) { return control.steps.length > 1 || (control.options.length > 1 && !control.chosen); });
      const options = usable.map(function (control) { return new Option(words(control.label) + (control.of ? " · " + control.of : ""), control.name); });
      groups.push(section.title ? make("optgroup", { label: words(section.title) }, ...options) : options);
    });
    select.replaceChildren(...groups.flat());
    const names = Array.from(select.options).map(function (option) { return option.value; });
    select.value = names.includes(chosen) ? chosen : names.find(function (name) { return /(^|\.)buffer$/.test(name); }) || names[0];
  }
  function fillMetrics() {
    const known = grid ? metrics.all.filter(function (each) { return grid.metrics[each[0]]; }) : metrics.all;
    $("metric").replaceChildren(...known.map(function (each) { return new Option(words(each[1]), each[0]); }));
    $("metric").value = metrics.usual;
  }
  function drawPoints() {
    if (!points) { return; }
    const x = points.values.map(function (_, at) { return at; });
    const curves = points.groups.map(function (group, index) {
      return { label: group[0], color: group[1], marker: "osD^vPX"[index % 7], y: x.map(function (at) { return points.found[at] ? points.found[at][index] : null; }) };
    });
    const own = points.values.indexOf(valueOf(points.axis));
    const unit = points.unit ? " (" + points.unit + ")" : "";
    const y_label = typeof points.title === "object" ? { en: points.title.en + unit, ja: points.title.ja + unit } : points.title + unit;
    window.charts.redraw($("sweep-plot"), {
      name: "sweep", title: points.title, x_label: points.label, y_label: y_label, x: x, names: points.values, cells: x, curves: curves,
      marks: own >= 0 ? [[own, plain("now"), "#5c6166"]] : [],
    });
    $("sweep-plot").dataset.axis = points.axis;
    $("sweep-plot").dataset.points = String(points.found.filter(Boolean).length);
  }
  function valueOf(name) {
    for (const section of scenario.sections) {
      const found = section.controls.find(function (control) { return control.name === name; });
      if (found) { return found.value || found.default.split(/[ ,]/)[0]; }
    }
    return "";
  }
  function sweep() {
    const mine = sweeping += 1;
    if (!$("axis").value) { return; }
    source.sweep(state, $("axis").value, $("metric").value, function (line) {
      if (mine !== sweeping) { return; }
      if (line.kind === "axes") { points = Object.assign({ found: line.values.map(function () { return null; }) }, line); drawPoints(); }
      if (line.kind === "point") { points.found[line.at] = line.values; drawPoints(); }
      if (line.kind === "error") { problem(line.message); }
      if (line.kind === "overtaken" && !flight) { sweep(); } // by an older request that a busy server took later; after a flight there is another
    }).catch(function () {});
  }
  document.addEventListener("pick", function (event) { if (points) { controls.set(points.axis, points.values[event.detail]); } });
  $("axis").addEventListener("change", sweep);
  $("metric").addEventListener("change", sweep);

  // ---- buttons ----

  // The pinned run is named by what the controls said then and do not say now.
  function valuesOf(sections) {
    return new Map(sections.flatMap(function (section) { return section.controls.map(function (control) { return [control.name, { label: control.label, of: section.color ? section.title : "", value: control.value || control.default }]; }); }));
  }
  function namePinned() {
    if (pinned && scenario && scenario.toml === pinned.toml) { pinned.sections = scenario.sections; }
    if (!pinned || !pinned.sections) { return; }
    const now = valuesOf(scenario.sections), differences = document.createElement("span");
    valuesOf(pinned.sections).forEach(function (each, key) {
      if (!now.has(key) || now.get(key).value === each.value) { return; }
      differences.append(differences.childNodes.length ? ", " : " · ", ...(each.of ? [...controls.both(each.of), " "] : []), ...controls.both(each.label), " " + each.value);
    });
    $("side-a").querySelector("h2 span:last-child").replaceWith(differences);
  }
  $("pin").addEventListener("click", function () {
    pinned = pinned ? null : Object.assign({ sections: null }, picture);
    namePinned();
    $("pin").setAttribute("aria-pressed", String(Boolean(pinned)));
    $("pin").replaceChildren(...word(pinned ? "unpin" : "pin"));
    $("side-a").hidden = !pinned;
    $("sides").classList.toggle("pair", Boolean(pinned));
    draw();
    redrawLater();
  });
  function redrawLater() { requestAnimationFrame(draw); }
  async function copy(text, button) {
    try { await navigator.clipboard.writeText(text); } catch (error) { return; }
    const before = Array.from(button.childNodes);
    button.replaceChildren(...word("copied"));
    setTimeout(function () { button.replaceChildren(...before); }, 1500);
  }
  function dialog(title, text) {
    const box = $("text");
    $("text-title").textContent = title;
    box.querySelector("pre").textContent = text;
    box.showModal();
  }
  $("link").addEventListener("click", function () {
    history.replaceState(null, "", "#" + encodeURIComponent(state));
    copy(location.href, $("link"));
  });
  document.querySelectorAll("[data-text]").forEach(function (button) {
    button.addEventListener("click", function () {
      const which = button.dataset.text;
      dialog(button.innerText, which === "toml" ? scenario.text || scenario.toml : scenario[which]);
    });
  });
  $("copy").addEventListener("click", function () { copy($("text").querySelector("pre").textContent, $("copy")); });
  $("close").addEventListener("click", function () { $("text").close(); });
  $("again").addEventListener("click", function () {
    state = "";
    old = null;
    series = [];
    pending = new Map();
    again = true;
    flight = null; // or its answer would bring the old state back
    pump();
  });
  if (source.isLive) {
    $("json").addEventListener("click", async function () {
      try { dialog("JSON", await source.text("json", state)); } catch (error) { problem(error.message); }
    });
    $("kernel").addEventListener("click", function () {
      const asked = version;
      $("kernel").disabled = true;
      source.kernel(state, function (line) {
        if (asked !== version) { return; } // of what is shown no more
        if (line.kind === "begin") { progress(...word("confirming"), " (" + line.seconds + " s) …"); }
        if (line.kind === "error") { problem(line.message); progress(); }
        if (line.kind === "overtaken") { progress(); }
        if (line.kind === "kernel") { progress(line.took_s.toFixed(1) + " s"); confirmed(line); }
      }).catch(function () { problem(plain("gone")); }).finally(function () { $("kernel").disabled = false; });
    });
    $("save").addEventListener("click", async function () {
      try { progress(...word("saved"), " " + JSON.parse(await source.text("save", state)).path); } catch (error) { problem(error.message); }
    });
    $("series").addEventListener("change", function () {
      const chosen = $("series").value, shown = picture.figures.map(function (figure) { return figure.name; });
      series = chosen === "" ? [] : shown.includes(chosen) ? shown.filter(function (name) { return name !== chosen; }) : shown.concat(chosen);
      again = true;
      pump();
    });
  }
  function fillSeries() {
    if (!source.isLive) { return; }
    const shown = picture.figures.map(function (figure) { return figure.name; });
    const options = picture.known.map(function (each) { return new Option((shown.includes(each[0]) ? "✓ " : "") + each[1], each[0]); });
    $("series").replaceChildren(new Option(plain("usual"), ""), ...options);
    $("series").value = "";
    if (series.length) { $("series").selectedIndex = -1; }
  }

  // ---- from the start on ----

  controls.onChange(change);
  source.onSaved(function () {
    stale();
    old = picture;
    again = true;
    pump();
  });
  function load() {
    try { state = decodeURIComponent(location.hash.slice(1)); } catch (error) { state = ""; }
    again = true;
    flight = null; // or its answer would bring the old state back
    pump();
  }
  window.addEventListener("hashchange", load);
  document.querySelectorAll(".language").forEach(function (button) {
    button.addEventListener("click", function () {
      controls.forget();
      controls.show(scenario.sections, source.isLive);
      fillAxes();
      fillMetrics();
      fillSeries();
      draw();
    });
  });
  fillMetrics();
  load();
})();
