// Where a character of a textarea is on the screen. Browsers do not say; a copy of the text in the same shape does.

const COPIED = [
  "boxSizing",
  "width",
  "paddingTop",
  "paddingRight",
  "paddingBottom",
  "paddingLeft",
  "borderTopWidth",
  "borderLeftWidth",
  "borderRightWidth",
  "font",
  "letterSpacing",
  "lineHeight",
  "tabSize",
] as const;

export function caretRect(area: HTMLTextAreaElement, at: number): DOMRect {
  const style = getComputedStyle(area);
  const copy = document.createElement("div");
  for (const name of COPIED) copy.style[name] = style[name];
  copy.style.position = "fixed";
  copy.style.visibility = "hidden";
  copy.style.whiteSpace = "pre-wrap";
  copy.style.overflowWrap = "break-word";
  copy.textContent = area.value.slice(0, at);
  const mark = document.createElement("span");
  mark.textContent = area.value.slice(at, at + 1) || ".";
  copy.append(mark);
  document.body.append(copy);
  const place = area.getBoundingClientRect();
  const left = place.left + mark.offsetLeft - area.scrollLeft;
  const top = place.top + mark.offsetTop - area.scrollTop;
  const height = mark.offsetHeight;
  copy.remove();
  return new DOMRect(left, top, 1, height);
}
