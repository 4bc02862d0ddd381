// Controls: native inputs over the grid of values, so that keyboard, touch and screen readers work as everywhere.

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function makeInput(control) {
  if (control.kind === "select") return element("select", {}, ...control.words.map((words, i) => element("option", { value: i }, words)));
  if (control.kind === "checkbox") return element("input", { type: "checkbox" });
  return element("input", { type: "range", min: 0, max: control.values.length - 1, step: 1 });
}

function saying(control, index) {
  return control.unit ? `${control.words[index]} ${control.unit}` : control.words[index];
}

function makeControl(control, changed) {
  const input = makeInput(control);
  input.name = control.name;
  const value = element("span", { className: "value" });
  value.setAttribute("aria-hidden", "true"); // the input itself says it
  // as wide as its longest words, so that nothing shifts
  value.style.minWidth = `${Math.max(...control.words.map((_, i) => saying(control, i).length))}ch`;
  input.addEventListener("input", () => changed(control.name, control.kind === "checkbox" ? Number(input.checked) : Number(input.value)));
  function show(index) {
    if (control.kind === "checkbox") input.checked = index === 1;
    else input.value = index;
    if (control.kind !== "range" || value.textContent === saying(control, index)) return;
    value.textContent = saying(control, index);
    input.setAttribute("aria-valuetext", value.textContent);
  }
  const name = element("span", { className: "name" });
  if (control.symbol) name.append(element("i", {}, control.symbol), " ");
  name.append(control.label);
  const parts = control.kind === "checkbox" ? [input, name] : control.kind === "select" ? [name, input] : [name, value, input];
  return { label: element("label", { className: `control ${control.kind}` }, ...parts), show };
}

// specs: the figure's controls.  changed(name, index): called when the reader moves one.
export function makeControls(specs, changed, words) {
  const made = new Map(specs.map((control) => [control.name, makeControl(control, changed)]));
  const labels = (folded) => specs.filter((control) => control.folded === folded).map((control) => made.get(control.name).label);
  const all = element("div", { className: "controls" }, ...labels(false));
  const more = labels(true);
  if (more.length) all.append(element("details", {}, element("summary", {}, words.more), element("div", { className: "controls" }, ...more)));
  return { element: all, show: (setting) => made.forEach(({ show }, name) => show(setting[name])) };
}
