// A change that is seen: a drawing goes from the old state to the new one in a moment.

const DURATION = 150; // milliseconds
const FRAME = 1000 / 60;

const running = new WeakMap(); // element → the number of its next frame

// Call step(share of the way) until it is 1: at once where the reader wants no motion, or drags the stage along quickly.
export function tween(drawn, step) {
  cancelAnimationFrame(running.get(drawn));
  if (matchMedia("(prefers-reduced-motion: reduce)").matches || drawn.closest(".quick")) return step(1);
  let start;
  function frame(now) {
    start ??= now - FRAME; // the first frame is on its way already
    const share = Math.min(1, (now - start) / DURATION);
    step(share);
    if (share < 1) running.set(drawn, requestAnimationFrame(frame));
  }
  frame(performance.now());
}
