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

/**
 * The blocks of a text as HTML that is not clean yet. What an agent says grows word by word: only the block that changed
 * is cleaned and drawn again.
 */
export function blocksOf(text: string): string[] {
  return marked
    .lexer(text)
    .map((token) => marked.parser([token]))
    .filter((html) => html !== "");
}

export const Markdown = memo(function Markdown({ text, className }: { text: string; className?: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className={cx("prose", className)}>
      {blocks.map((html, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end
        <Block key={at} html={html} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ html }: { html: string }) {
  const clean = useMemo(() => purifier.sanitize(html, FORBIDDEN), [html]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: cleaned above
  return <div dangerouslySetInnerHTML={{ __html: clean }} />;
});
