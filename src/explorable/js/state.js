// The state of a figure: what its controls say, and what its picture shows, which waits until that is computed.
// Both are a Map from a control's name to its value.

import { nearest } from "./nearest.js";

export class State {
  constructor(model, controls) {
    Object.assign(this, { model, controls });
    this.follow();
    this.drawn = this.values;
  }

  // Take the model's values.
  follow() {
    this.values = new Map(this.controls.map(({ name }) => [name, this.model.get(name)]));
  }

  // Give the model these values; Python and the figure's other views follow.
  set(values) {
    for (const [name, value] of values) if (this.model.get(name) !== value) this.model.set(name, value);
    this.model.save_changes();
  }

  // Go to the nearest values of the grid.
  snap() {
    const onGrid = ({ values }, value) => (values.includes(value) ? value : values[nearest(values, value)]);
    this.values = new Map(this.controls.map((control) => [control.name, onGrid(control, this.values.get(control.name))]));
  }

  // Whether the controls say this.
  is(values) {
    return this.controls.every(({ name }) => values.get(name) === this.values.get(name));
  }

  // The controls that have left their start, with their drawn value as text.
  moved() {
    const moved = this.controls.filter(({ name, start }) => this.drawn.get(name) !== start);
    return new Map(moved.map(({ name }) => [name, String(this.drawn.get(name))]));
  }

  // Call changed() when the model has another value. Returns a function that ends this.
  listen(changed) {
    const events = this.controls.map(({ name }) => `change:${name}`);
    const listener = () => {
      const before = this.values;
      this.follow();
      if (!this.is(before)) changed();
    };
    for (const event of events) this.model.on(event, listener);
    return () => events.forEach((event) => this.model.off(event, listener));
  }
}
