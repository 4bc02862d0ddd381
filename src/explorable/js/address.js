// The fragment of a page's address names a section and the states of figures:
// #the-gradient&gradient-decay:cell=LSTM;gain=1.5&receptive-field:k=5
// It is parsed as data: a name or value that a figure does not offer is passed over.

// What the address names: the section's anchor, "" if none, and the states: Map from figure to Map from control to the
// text of its value.
export function readAddress(hash) {
  const states = new Map();
  let section = "";
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [figure, state] = split(part, /^([^:]*):(.*)$/s) ?? [];
    const pairs = state?.split(";").map((pair) => split(pair, /^([^=]*)=(.*)$/s)?.map(decoded));
    if (pairs) states.set(decoded(figure), new Map(pairs.filter(Boolean)));
    else section ||= decoded(part);
  }
  return { section, states };
}

const split = (text, pattern) => pattern.exec(text)?.slice(1);

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // broken percent signs name nothing
  }
}

// section and states: as readAddress gives them.
export function fragmentOf({ section, states }) {
  const textOf = (state) => [...state].map((pair) => pair.map(encodeURIComponent).join("=")).join(";");
  const figures = [...states].map(([figure, state]) => `${encodeURIComponent(figure)}:${textOf(state)}`);
  const parts = [...(section ? [encodeURIComponent(section)] : []), ...figures];
  return parts.length ? `#${parts.join("&")}` : "";
}

export function writeAddress(named) {
  history.replaceState(null, "", fragmentOf(named) || location.pathname + location.search);
}
