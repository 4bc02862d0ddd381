// Elements of HTML and of SVG, with attributes and children.

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const element = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const node = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Set an attribute where it changes: setting the same one again costs a layout.
export function set(made, name, value) {
  if (made.getAttribute(name) !== value) made.setAttribute(name, value);
}

// Give an element these children, which are not in the page yet. Those that are there already stay, with what differs set:
// a new element costs a style and a layout.
export function renew(parent, children) {
  const before = [...parent.children];
  children.forEach((child, i) => {
    const kept = before[i];
    if (!kept) parent.append(child);
    else if (kept.tagName !== child.tagName || kept.attributes.length !== child.attributes.length) kept.replaceWith(child);
    else if (!kept.isEqualNode(child)) {
      for (const { name, value } of child.attributes) set(kept, name, value);
      if (child.firstElementChild || kept.firstElementChild) kept.replaceChildren(...child.childNodes);
      else if (kept.textContent !== child.textContent) kept.textContent = child.textContent;
    }
  });
  for (const left of before.slice(children.length)) left.remove();
}
