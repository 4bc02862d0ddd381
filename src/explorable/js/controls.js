// Controls: native inputs over the grid of values, so that keyboard, touch and screen readers work as everywhere.
// With a kernel behind the figure a slider's number is a box, into which the reader may type any value in its range.

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// A control's value as the reader sees it.
export function valueWords(control, value) {
  const index = control.values.indexOf(value);
  return index < 0 ? String(value) : control.words[index];
}

export function saying(control, value) {
  return control.unit ? `${valueWords(control, value)} ${control.unit}` : valueWords(control, value);
}

function makeInput(control) {
  if (control.kind === "select") return element("select", {}, ...control.words.map((words, i) => element("option", { value: i }, words)));
  if (control.kind === "checkbox") return element("input", { type: "checkbox" });
  return element("input", { type: "range", min: 0, max: control.values.length - 1, step: 1 });
}

// The place on the slider of a value, between two steps too.
function nearest(values, value) {
  return values.reduce((best, one, i) => (Math.abs(one - value) < Math.abs(values[best] - value) ? i : best), 0);
}

// The box of a slider: shown while a kernel can compute what is typed. refuse(sentence) says why a value is not taken.
function makeBox(control, changed, refuse, words) {
  const [low, high] = [control.values[0], control.values.at(-1)];
  const { whole } = control;
  const box = element("input", { type: "number", className: "box", min: low, max: high, step: whole ? 1 : "any", hidden: true });
  box.setAttribute("aria-label", words.typed(control.label));
  const taken = () => box.value !== "" && box.valueAsNumber >= low && box.valueAsNumber <= high && (!whole || Number.isInteger(box.valueAsNumber));
  box.addEventListener("input", () => {
    box.setAttribute("aria-invalid", !taken());
    if (taken()) changed(control.name, box.valueAsNumber);
    else refuse(words.outside(low, high, whole));
  });
  return box;
}

function makeControl(control, changed, refuse, words) {
  const input = makeInput(control);
  input.name = control.name;
  const value = element("span", { className: "value" });
  value.setAttribute("aria-hidden", "true"); // the input itself says it
  // as wide as its longest words, so that nothing shifts
  value.style.minWidth = `${Math.max(...control.values.map((one) => saying(control, one).length))}ch`;
  input.addEventListener("input", () => changed(control.name, control.values[control.kind === "checkbox" ? Number(input.checked) : Number(input.value)]));
  const box = control.continuous ? makeBox(control, changed, refuse, words) : null;
  let current;
  function show(now) {
    if (now === current) return;
    current = now;
    if (control.kind === "checkbox") input.checked = now;
    else input.value = control.kind === "select" ? control.values.indexOf(now) : nearest(control.values, now);
    if (control.kind !== "range") return;
    value.textContent = saying(control, now);
    input.setAttribute("aria-valuetext", value.textContent);
    if (box && box.valueAsNumber !== now) box.value = now; // not while it is being typed
    box?.setAttribute("aria-invalid", "false");
  }
  box?.addEventListener("blur", () => {
    if (box.valueAsNumber !== current) box.value = current;
    box.setAttribute("aria-invalid", "false");
  });
  function offer(kernel) {
    if (!box) return;
    box.hidden = !kernel;
    value.hidden = kernel;
  }
  const name = element("span", { className: "name" });
  if (control.symbol) name.append(element("i", {}, control.symbol), " ");
  name.append(control.label);
  const label = element("label", { className: `control ${control.kind}` });
  if (control.kind === "checkbox") label.append(input, name);
  else if (control.kind === "select") label.append(name, input);
  else label.append(name, value, input);
  if (!box) return { element: label, show, offer };
  // a label names one input only, so the box stands beside it
  return { element: element("span", { className: "control-with-box" }, label, box), show, offer };
}

// specs: the figure's controls.  changed(name, value): called when the reader moves one.  refuse(sentence): called
// when the reader types what no kernel could compute.
export function makeControls(specs, { changed, refuse, words }) {
  const made = new Map(specs.map((control) => [control.name, makeControl(control, changed, refuse, words)]));
  const elements = (folded) => specs.filter((control) => control.advanced === folded).map((control) => made.get(control.name).element);
  const all = element("div", { className: "controls" }, ...elements(false));
  const more = elements(true);
  if (more.length) {
    const summary = element("summary", {}, words.more);
    all.append(element("details", { className: "more" }, summary, element("div", { className: "controls" }, ...more)));
  }
  return {
    element: all,
    show: (values) => made.forEach(({ show }, name) => show(values.get(name))),
    offer: (kernel) => made.forEach(({ offer }) => offer(kernel)),
  };
}
