// A page's address carries the state of its figures: #gradient-decay:cell=LSTM;gain=1.5&receptive-field:k=5
// It is parsed as data: a name or value that a figure does not offer is passed over.

// The states that the address names: Map from figure to Map from control to the text of its value.
export function readAddress(hash) {
  const states = new Map();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [figure, state] = split(part, /^([^:]*):(.*)$/s) ?? [];
    const pairs = state?.split(";").map((pair) => split(pair, /^([^=]*)=(.*)$/s)?.map(decoded));
    if (pairs) states.set(decoded(figure), new Map(pairs.filter(Boolean)));
  }
  return states;
}

const split = (text, pattern) => pattern.exec(text)?.slice(1);

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // broken percent signs name nothing
  }
}

// states: as readAddress gives them, figures in their start state left out.
export function fragmentOf(states) {
  const textOf = (state) => [...state].map((pair) => pair.map(encodeURIComponent).join("=")).join(";");
  const parts = [...states].map(([figure, state]) => `${encodeURIComponent(figure)}:${textOf(state)}`);
  return parts.length ? `#${parts.join("&")}` : "";
}

export function writeAddress(states) {
  history.replaceState(null, "", fragmentOf(states) || location.pathname + location.search);
}
