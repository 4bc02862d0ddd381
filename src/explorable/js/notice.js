// What stands in for a figure that cannot move: its still picture, and a sentence that says why.

// The picture comes with the page; where a host makes none (JupyterLab), it comes with the model.
export function showStill(figure, still) {
  if (figure.querySelector("img.still") || !still?.src) return;
  figure.append(Object.assign(document.createElement("img"), { className: "still", src: still.src, alt: still.alt }));
}

// Say in the page's language why the figure does not move; the still picture stays.
export function notify(figure, text) {
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "status");
  notice.textContent = text;
  figure.prepend(notice);
}
