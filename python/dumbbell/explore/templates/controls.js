// Sliders and pickers, made of what the scenario's declarations say (controls.py).
(function () {
  "use strict";
  const box = document.getElementById("controls");
  const rows = new Map();
  const folded = new Map();
  // What names each section: labels of groups change while a slider is dragged.
  const heads = [];
  let shape = "", change = function () {};

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) {
      if (attributes[name] !== undefined && attributes[name] !== false) { element.setAttribute(name, attributes[name]); }
    });
    element.append(...children);
    return element;
  }
  // A text in both languages, of which the page shows one.
  function both(text) {
    if (typeof text !== "object") { return [text]; }
    return ["en", "ja"].map(function (language) { return make("span", { lang: language }, text[language]); });
  }
  function word(name) { return Array.from(document.querySelector('#words [data-word="' + name + '"]').cloneNode(true).childNodes); }
  function plain(name) {
    const element = document.querySelector('#words [data-word="' + name + '"]'), own = element.querySelector('[lang="' + document.documentElement.lang + '"]');
    return (own || element).textContent;
  }
  function idOf(name) { return "control-" + name.replace(/[^\w]/g, "_"); }

  // Where a slider stands whose field is not set: at its default, if that is one of its stops.
  function placeOf(control) {
    const at = control.steps.indexOf(control.value);
    if (at >= 0) { return at; }
    const usual = control.steps.indexOf(control.default.split(/[ ,]/)[0]);
    return usual >= 0 ? usual : Math.floor(control.steps.length / 2);
  }
  function slider(control, id, name) {
    const range = make("input", { type: "range", id: id, min: 0, max: control.steps.length - 1, step: 1 });
    const text = make("input", { type: "text", "aria-label": name, spellcheck: "false", autocomplete: "off" });
    const row = { control: control, inputs: [range, text] };
    range.addEventListener("input", function () {
      const value = row.control.steps[Number(range.value)];
      text.value = value;
      range.setAttribute("aria-valuetext", value);
      change(row.control.name, value);
    });
    text.addEventListener("change", function () { change(row.control.name, text.value.trim()); });
    row.set = function (next) {
      row.control = next;
      range.max = next.steps.length - 1;
      range.value = placeOf(next);
      range.setAttribute("aria-valuetext", next.value || next.default || plain("unset"));
      if (document.activeElement !== text) { text.value = next.value; }
      text.placeholder = next.default.split(/[,;] /)[0];
      row.element.classList.toggle("unset", next.value === "");
    };
    return row;
  }
  function picker(control, id) {
    const select = make("select", { id: id });
    const row = { control: control, inputs: [select] };
    select.addEventListener("change", function () { change(row.control.name, select.value); });
    row.set = function (next) {
      row.control = next;
      const names = next.options.includes(next.value) ? next.options : [next.value].concat(next.options);
      if (Array.from(select.options).map(function (each) { return each.value; }).join("\n") !== names.join("\n")) {
        select.replaceChildren(...names.map(function (name) { return new Option(name || next.default.split(";")[0] || "–", name); }));
      }
      select.value = next.value;
    };
    return row;
  }
  // Several elements in one field: each can go, and another one be added.
  function list(control, id) {
    const select = make("select", { id: id }), chosen = make("span", { class: "chosen wholly" });
    const row = { control: control, inputs: [select], after: chosen };
    select.addEventListener("change", function () {
      const next = row.control.chosen.concat(select.value).join("+");
      select.selectedIndex = 0;
      change(row.control.name, next);
    });
    row.set = function (next) {
      row.control = next;
      select.replaceChildren(new Option(plain("add") + " …", ""), ...next.options.filter(Boolean).map(function (name) { return new Option(name, name); }));
      chosen.replaceChildren(...next.chosen.map(function (text, at) {
        const button = make("button", { type: "button", "aria-label": plain("remove") + " " + text }, text + " ×");
        button.addEventListener("click", function () { change(next.name, next.chosen.filter(function (_, other) { return other !== at; }).join("+")); });
        return button;
      }));
    };
    return row;
  }
  function line(control, id) {
    const text = make("input", { type: "text", id: id, class: "wholly", spellcheck: "false", autocomplete: "off" });
    const row = { control: control, inputs: [text] };
    text.addEventListener("change", function () { change(row.control.name, text.value.trim()); });
    row.set = function (next) {
      row.control = next;
      if (document.activeElement !== text) { text.value = next.value; }
      text.placeholder = next.default;
    };
    return row;
  }
  function rowOf(control) {
    const id = idOf(control.name), name = window.charts.words(control.label), doc = window.charts.words(control.doc);
    const row = control.chosen ? list(control, id) : control.options.length ? picker(control, id) : control.steps.length ? slider(control, id, name) : line(control, id);
    const isLong = name.length > 12;
    row.element = make("div", { class: isLong ? "control long" : "control", title: doc }, make("label", { for: id }, ...both(control.label)), ...row.inputs, ...(row.after ? [row.after] : []));
    row.inputs[0].setAttribute("aria-description", doc);
    rows.set(control.name, row);
    row.set(control);
    return row.element;
  }
  function fold(key, title, elements) {
    const details = make("details", {}, make("summary", {}, ...title), ...elements);
    details.open = folded.get(key) || false;
    details.addEventListener("toggle", function () { folded.set(key, details.open); });
    return details;
  }
  function sectionOf(section, at, isLive) {
    const name = make("span"), dot = make("span", { class: "dot" }), head = make("h2", {}, ...(section.color ? [dot] : []), name);
    heads.push(function (next) { name.replaceChildren(...both(next.title)); dot.style.background = next.color; });
    heads[heads.length - 1](section);
    if (section.group !== null && isLive) {
      const button = make("button", { type: "button" }, ...word("remove"));
      button.addEventListener("click", function () { change("-group", String(section.group)); });
      head.append(button);
    }
    const element = make("section", { class: "group" }, ...(section.title ? [head] : []));
    const ofElements = new Map(), more = [];
    section.controls.forEach(function (control) {
      if (control.of) {
        if (!ofElements.has(control.of)) { ofElements.set(control.of, []); }
        ofElements.get(control.of).push(rowOf(control));
      } else if (control.is_common) {
        element.append(rowOf(control));
      } else {
        more.push(rowOf(control));
      }
    });
    ofElements.forEach(function (elements, of) { element.append(fold(at + of, [of + ": ", ...word("parameters")], elements)); });
    if (more.length) { element.append(fold(at + "more", word("more"), more)); }
    return element;
  }
  function adder(sections) {
    const first = sections.find(function (section) { return section.group !== null; });
    const known = first && first.controls.find(function (control) { return control.name.endsWith(".cc"); });
    if (!known) { return []; }
    const select = make("select", { id: "add-group" }, new Option("…", ""), ...known.options.map(function (name) { return new Option(name, name); }));
    select.addEventListener("change", function () { change("+group", select.value); });
    return [make("p", { class: "control" }, make("label", { for: "add-group" }, ...word("addgroup")), select)];
  }
  function shapeOf(sections) {
    return JSON.stringify(sections.map(function (section) {
      return [Boolean(section.color), section.controls.map(function (c) { return [c.name, c.of, Boolean(c.chosen), c.options.length > 0, c.steps.length > 0]; })];
    }));
  }
  window.explore.controls = {
    make: make, both: both, word: word, plain: plain,
    onChange: function (act) { change = act; },
    // Shows the controls of a scenario; those that stay are not made again, for one may be dragged.
    show: function (sections, isLive) {
      const next = shapeOf(sections);
      if (next === shape) {
        sections.forEach(function (section, at) { heads[at](section); section.controls.forEach(function (control) { rows.get(control.name).set(control); }); });
        return;
      }
      shape = next;
      const active = document.activeElement, focus = active && active.id, held = active && active.type === "text" ? active.value : null;
      rows.clear();
      heads.length = 0;
      box.replaceChildren(...sections.map(function (section, at) { return sectionOf(section, at, isLive); }), ...(isLive ? adder(sections) : []));
      const again = focus && document.getElementById(focus);
      if (again && box.contains(again)) { again.focus(); if (held !== null && again.type === "text") { again.value = held; } }
    },
    // Forgets what is shown, as when the language changes.
    forget: function () { shape = ""; },
    mark: function (names) {
      rows.forEach(function (row, name) { row.inputs.forEach(function (input) { if (names.includes(name)) { input.setAttribute("aria-invalid", "true"); } else { input.removeAttribute("aria-invalid"); } }); });
    },
    set: function (name, value) { change(name, value); },
    stops: function (name) { return rows.get(name).control.steps; },
  };
})();
