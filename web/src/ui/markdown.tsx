// Markdown of people and agents. Agents' words are not trusted: what comes out is cleaned, links open elsewhere, and
// nothing is loaded from outside.

import DOMPurify from "dompurify";
import { Marked } from "marked";
import { memo, useMemo } from "react";
import { cx } from "./class";

const asText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

// HTML in Markdown is shown as it was written: to people it is what the agent said, and a browser that only reads a
// handler such as `onerror` in it already reports a breach of the page's policy.
const marked = new Marked({ gfm: true, breaks: true, renderer: { html: ({ text }) => asText(text) } });
const purifier = DOMPurify(window);

purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noreferrer noopener");
  }
  if (node.tagName === "IMG" && !node.getAttribute("src")?.startsWith("/api/")) node.removeAttribute("src");
});

const FORBIDDEN = {
  FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "iframe"],
  FORBID_ATTR: ["style", "id", "name"],
};

function toHtml(text: string): string {
  return purifier.sanitize(marked.parse(text, { async: false }), FORBIDDEN);
}

export const Markdown = memo(function Markdown({ text, className }: { text: string; className?: string }) {
  const html = useMemo(() => toHtml(text), [text]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: cleaned by toHtml
  return <div className={cx("prose", className)} dangerouslySetInnerHTML={{ __html: html }} />;
});
