// A view is parsed when a reader opens it: browsers load even a lazy frame in a closed <details> at once.
addEventListener(
  "toggle",
  ({ target }) => {
    const frame = target.matches?.("details.bertviz") && target.querySelector("iframe");
    if (frame) frame.srcdoc ||= frame.dataset.document; // a copied page may lack the frame
  },
  true,
);
