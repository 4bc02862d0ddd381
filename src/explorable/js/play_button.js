// The play button of a slider: pressed, it moves the slider on, a step twice a second, and stops at the end; pressed at the
// end, it starts over.

import { element, node } from "./elements.js";
import { fill } from "./words.js";

const PACE = 500; // milliseconds a step
const SHAPES = { play: "M4,2L14,8L4,14Z", pause: "M4,2H7V14H4ZM9,2H12V14H9Z" };

// slider: {label, values}.  now(): its value.  end(): where to stop.  go(value): moves it.
export function makePlayButton({ label, values }, { now, end, go, words }) {
  const shape = node("path");
  const button = element(
    "button",
    { class: "play-button", type: "button" },
    node("svg", { viewBox: "0 0 16 16", "aria-hidden": true }, shape),
  );
  let timer = null;
  let sent; // the last value that the button itself has set
  const next = () => values.find((value) => value > now() && value <= end());

  function say() {
    const act = timer === null ? "play" : "pause";
    shape.setAttribute("d", SHAPES[act]);
    button.setAttribute("aria-label", fill(words[act], { label }));
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    say();
  }
  function step(value = next()) {
    if (value === undefined || !button.isConnected) return stop();
    sent = value;
    go(value);
    if (next() === undefined) stop();
  }
  button.addEventListener("click", () => {
    if (timer !== null) return stop();
    timer = setInterval(step, PACE);
    say();
    step(next() ?? values[0]);
  });
  say();
  // The slider has another value: where the reader, or the address, has set it, the button gives way.
  const follow = (value) => timer !== null && value !== sent && stop();
  return { element: button, follow };
}
