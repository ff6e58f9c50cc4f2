// Where pictures come from: a server that runs what is asked, or runs that lie in the page.
(function () {
  "use strict";
  const window_id = Array.from(crypto.getRandomValues(new Uint32Array(2))).join("-");

  async function lines(path, asked, take) {
    const response = await fetch(path, { method: "POST", body: JSON.stringify(Object.assign({ window: window_id }, asked)) });
    if (!response.ok) { take({ kind: "error", message: await response.text() }); return; }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const part = await reader.read();
      if (part.done) { return; }
      const found = (rest + part.value).split("\n");
      rest = found.pop();
      found.forEach(function (line) { take(JSON.parse(line)); });
    }
  }
  const server = {
    isLive: true,
    show: function (slot, state, changes, series, take) { return lines("show", { slot: slot, toml: state, changes: changes, series: series }, take); },
    sweep: function (state, axis, metric, take) { return lines("sweep", { toml: state, axis: axis, metric: metric }, take); },
    kernel: function (state, take) { return lines("kernel", { toml: state }, take); },
    text: async function (path, state) {
      const response = await fetch(path, { method: "POST", body: JSON.stringify({ window: window_id, toml: state }) });
      if (!response.ok) { throw new Error(await response.text()); }
      return response.text();
    },
    onSaved: function (act) { new EventSource("events?window=" + window_id).addEventListener("saved", act); },
  };

  // A state is the place in the grid, as text: "0,3".
  function inPage(grid) {
    const sizes = grid.axes.map(function (axis) { return axis.values.length; });
    function indexOf(place) { return place.reduce(function (sum, at, axis) { return sum * sizes[axis] + at; }, 0); }
    function placeOf(state) { const found = state ? state.split(",").map(Number) : grid.start; return found.length === sizes.length && found.every(function (at, axis) { return at >= 0 && at < sizes[axis]; }) ? found.slice() : grid.start.slice(); }
    async function unpack(text) {
      const bytes = Uint8Array.from(atob(text), function (c) { return c.charCodeAt(0); });
      return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
    }
    function controlOf(axis, at) {
      const known = { name: axis.name, label: axis.label, doc: axis.doc, value: axis.values[at], default: "", steps: [], options: [], chosen: null, is_common: true, of: "" };
      known[axis.is_slider ? "steps" : "options"] = axis.values;
      return known;
    }
    return {
      isLive: false,
      show: async function (slot, state, changes, series, take) {
        const place = placeOf(state);
        for (const change of changes) {
          const at = grid.axes.findIndex(function (axis) { return axis.name === change[0]; }), values = grid.axes[at].values, value = values.indexOf(change[1]);
          if (value < 0) { take({ kind: "error", message: "`" + change[1] + "` was not run; this page has " + values.join(", ") }); return; }
          place[at] = value;
        }
        const text = grid.cells[indexOf(place)];
        const cell = text ? await unpack(text) : { message: "this combination was not run" };
        take({ kind: "scenario", toml: place.join(","), text: cell.toml, command: cell.command, python: cell.python, title: grid.title, files: [],
          sections: [{ title: "", color: "", group: null, controls: grid.axes.map(function (axis, at) { return controlOf(axis, place[at]); }) }] });
        if (cell.message) { take({ kind: "error", message: cell.message }); return; }
        take(Object.assign({ kind: "picture", toml: place.join(","), part: "whole", took_s: 0 }, cell.picture));
        take({ kind: "end" });
      },
      sweep: async function (state, name, metric, take) {
        const at = grid.axes.findIndex(function (axis) { return axis.name === name; }), place = placeOf(state), measured = grid.metrics[metric];
        take({ kind: "axes", axis: name, label: grid.axes[at].label, values: grid.axes[at].values, metric: metric, title: measured.title, unit: measured.unit, groups: measured.groups });
        grid.axes[at].values.forEach(function (_, step) {
          place[at] = step;
          const values = measured.values[indexOf(place)];
          if (values) { take({ kind: "point", at: step, values: values }); }
        });
      },
      onSaved: function () {},
    };
  }
  const element = document.getElementById("grid");
  const grid = element && JSON.parse(element.textContent);
  window.explore = { source: grid ? inPage(grid) : server, grid: grid, lines: lines };
})();
