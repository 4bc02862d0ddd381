// The page as an answerer: it computes what no grid holds from the traces that a figure brings (traces.py), in a worker, so
// that nothing here waits for it.

import { element } from "./elements.js";

const WORK = `
const computed = new Map();
onmessage = async ({ data: { id, name, bytes, given } }) => {
  try {
    if (bytes) computed.set(name, traced(bytes));
    postMessage({ id, results: (await computed.get(name))(given) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};`;

// What a figure brings in an element, or names there as a file of the site: a classic script, which works from a file, too.
function textOf(holder) {
  if (!holder.dataset.src) return Promise.resolve(holder.textContent);
  globalThis.explorableFiles ??= {};
  const files = globalThis.explorableFiles;
  const { name, src } = holder.dataset;
  if (files[name] !== undefined) return Promise.resolve(files[name]);
  return new Promise((done, fail) => {
    const script = element("script", { src });
    script.addEventListener("load", () => done(files[name]));
    script.addEventListener("error", () => fail(new Error(`${src} did not load`)));
    document.head.append(script);
  });
}

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// heard.answered(request, answer, error): the results as numbersOf keeps them, or an error's words.  heard.lost(): no worker.
export class PageAnswerer {
  workers = new Map(); // of each program
  waiting = new Map(); // request to a worker → what is done with its answer
  count = 0;
  busy = false;

  constructor(root, parts, heard) {
    this.holders = [...root.querySelectorAll("script.trace")];
    this.programs = new Map([...root.querySelectorAll("script.program")].map((holder) => [holder.dataset.name, holder]));
    this.parts = new Map(parts.map(([key, trace, output, digits, words]) => [key, { trace, output, digits, words }]));
    this.heard = heard;
    this.works = this.holders.length > 0 && typeof Worker === "function";
  }

  offers(parts) {
    return this.works && parts.every((part) => this.parts.has(part));
  }

  // request: {values, parts}. One at a time; what is wanted when it is answered is asked then.
  async ask(request) {
    if (this.busy) return;
    this.busy = true;
    const { values, parts } = request;
    const given = Object.fromEntries(values);
    const traces = [...new Set(parts.map((part) => this.parts.get(part).trace))];
    try {
      const results = new Map(await Promise.all(traces.map(async (trace) => [trace, await this.compute(trace, given)])));
      this.busy = false;
      this.heard.answered(request, (part) => this.resultOf(part, results), "");
    } catch (error) {
      this.busy = false;
      if (!this.works) return this.heard.lost();
      this.heard.answered(request, null, error.message);
    }
  }

  resultOf(part, results) {
    const { trace, output, digits, words } = this.parts.get(part);
    const { shape, data } = results.get(trace)[output];
    if (typeof part === "number") return { shape, values: Float64Array.from(data) };
    if (words) return Array.from(data, (number) => words[number]).join(" ");
    return digits === null ? String(Math.round(data[0])) : data[0].toFixed(digits);
  }

  async compute(trace, given) {
    const { name, program } = this.holders[trace].dataset;
    const worker = await this.workerOf(program);
    const bytes = worker.known.has(name) ? null : bytesOf(await this.loaded(this.holders[trace]));
    worker.known.add(name);
    const id = ++this.count;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      worker.postMessage({ id, name, bytes, given });
    });
  }

  loaded(holder) {
    return textOf(holder).catch((error) => {
      this.works = false;
      throw error;
    });
  }

  async workerOf(program) {
    if (!this.workers.has(program)) this.workers.set(program, this.start(program));
    return this.workers.get(program);
  }

  async start(program) {
    const text = await this.loaded(this.programs.get(program));
    try {
      const worker = new Worker(URL.createObjectURL(new Blob([text, WORK], { type: "text/javascript" })));
      worker.onmessage = ({ data: { id, results, error } }) => {
        const { done, fail } = this.waiting.get(id);
        this.waiting.delete(id);
        if (results) done(results);
        else fail(new Error(error));
      };
      worker.onerror = () => this.fail();
      worker.known = new Set(); // the traces that it has
      return worker;
    } catch (error) {
      this.works = false; // a host may forbid workers
      throw error;
    }
  }

  fail() {
    this.works = false;
    for (const { fail } of this.waiting.values()) fail(new Error("the worker failed"));
    this.waiting.clear();
  }

  close() {
    for (const worker of this.workers.values()) worker.then((one) => one.terminate());
  }
}
