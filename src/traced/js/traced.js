// Runs what torch has traced (traced.py): graphs of core operations (graph.py), on strided views of one array of floats.

import { creation } from "./creation.js";
import { indexing } from "./indexing.js";
import { count, Memory } from "./memory.js";
import { pointwise } from "./pointwise.js";
import { products } from "./products.js";
import { reductions } from "./reductions.js";
import { scanning } from "./scan.js";
import { views } from "./views.js";

// bytes: of Traced.to_bytes. Returns a function of {parameter: value} that gives the outputs, [{shape, data}]. A value is a
// number, one of the choices, a (nested) list, {shape, data}, or a list of these where the example was a list.  It throws
// a RangeError {input, value, low, high} for what lies outside the ranges of the trace.
export async function traced(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = await new Response(stream).arrayBuffer();
  const length = Number(new DataView(data).getBigUint64(0, true));
  // JSON has no word for infinity: it stands there as a number that is too large
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length)));
  const Float = { Float32Array, Float64Array }[header.kind];
  const weights = new Float(data, 8 + length);
  const memory = new Memory(Float);
  const operations = { ...pointwise(memory), ...reductions(memory), ...products(memory), ...views(memory), ...creation(memory) };
  Object.assign(operations, indexing(memory), scanning(memory, { run, select: operations.select }));

  function run(graph, values, which = graph.nodes.keys()) {
    const value = (a) => (typeof a === "string" ? values[a] : Array.isArray(a) ? a.map(value) : a);
    for (const n of which) {
      const [name, ...args] = graph.nodes[n];
      values[graph.inputs + n] = operations[name](...(name === "scan" ? [args[0], ...args.slice(1).map(value)] : args.map(value)));
    }
    return values;
  }

  function graphOf(given) {
    let place = 0;
    for (const [name, values] of header.choices) {
      const chosen = values.indexOf(given[name]);
      if (chosen < 0) throw outside(name, given[name], values[0], values.at(-1));
      place = place * values.length + chosen;
    }
    return header.graphs[place];
  }

  return function compute(given) {
    memory.top = 0;
    memory.empty([weights.length]);
    memory.numbers.set(weights);
    const graph = graphOf(given);
    const values = graph.given.map((input) => {
      const value = given[input.name];
      return taken(memory, input, input.place == null ? value : value?.[input.place]);
    });
    run(graph, values);
    return graph.outputs.map((name) => {
      const made = memory.copy(memory.tensor(typeof name === "string" ? values[name] : name));
      return { shape: made.shape, data: memory.numbers.slice(made.at, made.at + count(made.shape)) };
    });
  };
}

function outside(input, value, low, high) {
  const text = `${input} = ${value}: it must lie between ${low} and ${high}`;
  return Object.assign(new RangeError(text), { input, value, low, high });
}

// What is given for an input, as a tensor in the memory.
function taken(memory, { name, kind, range, shape }, value) {
  if (kind !== "tensor") {
    const whole = kind === "number" || Number.isInteger(value);
    if (!(value >= range[0] && value <= range[1] && whole)) throw outside(name, value, ...range);
    return kind === "number" ? memory.full([], value) : { shape: [value], strides: [0], at: 0 };
  }
  const given = value?.data ? value : { shape: shapeOf(value), data: [value].flat(Infinity) };
  if (given.shape.length !== shape.length) throw outside(name, `${given.shape.length} axes`, shape.length, shape.length);
  given.shape.forEach((size, d) => {
    const [low, high] = [shape[d]].flat().length > 1 ? shape[d] : [shape[d], shape[d]];
    if (!(size >= low && size <= high)) throw outside(`axis ${d} of ${name}`, size, low, high);
  });
  const made = memory.empty(given.shape);
  memory.numbers.set(given.data, made.at);
  return made;
}

const shapeOf = (value) => (Array.isArray(value) ? [value.length, ...shapeOf(value[0])] : []);
