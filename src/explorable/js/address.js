// A page's address carries the state of its figures: #gradient-decay:cell=LSTM;gain=1.5&receptive-field:k=5
// It is parsed as data: a name or value that a figure does not offer is passed over.

// The states that the address names: Map from figure to Map from control to the text of its value.
export function readAddress(hash) {
  const states = new Map();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const colon = part.indexOf(":");
    if (colon < 0) continue;
    const pairs = part.slice(colon + 1).split(";").map((pair) => /^([^=]*)=(.*)$/s.exec(pair));
    states.set(decoded(part.slice(0, colon)), new Map(pairs.filter(Boolean).map((pair) => pair.slice(1).map(decoded))));
  }
  return states;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // broken percent signs name nothing
  }
}

// states: as readAddress gives them, figures in their start state left out.
export function fragmentOf(states) {
  const parts = [...states].map(([figure, state]) => `${encodeURIComponent(figure)}:${[...state].map((pair) => pair.map(encodeURIComponent).join("=")).join(";")}`);
  return parts.length ? `#${parts.join("&")}` : "";
}

export function writeAddress(states) {
  history.replaceState(null, "", fragmentOf(states) || location.pathname + location.search);
}
