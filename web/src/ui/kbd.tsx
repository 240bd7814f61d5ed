const MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const WORDS: Record<string, string> = {
  mod: MAC ? "⌘" : "Ctrl",
  shift: "⇧",
  enter: "↵",
  escape: "Esc",
  alt: MAC ? "⌥" : "Alt",
};

/** Keys such as `mod+k` or `g b`, as the reader's keyboard calls them. */
export function Kbd({ keys }: { keys: string | undefined }) {
  if (keys === undefined) return null;
  return (
    <span className="inline-flex shrink-0 gap-1" aria-hidden>
      {keys.split(/[ +]/).map((key) => (
        <kbd
          key={key}
          className="min-w-5 rounded-sm border border-line bg-sunken px-1 text-center font-sans text-faint text-xs"
        >
          {WORDS[key] ?? key.toUpperCase()}
        </kbd>
      ))}
    </span>
  );
}

const ARIA: Record<string, string> = { enter: "Enter", escape: "Escape", shift: "Shift", alt: "Alt" };

/** The same for `aria-keyshortcuts`, which cannot express a sequence. */
export function ariaKeys(keys: string | undefined): string | undefined {
  if (keys === undefined || keys.includes(" ")) return undefined;
  const named = keys.split("+").map((key) => ARIA[key] ?? (key.length === 1 ? key.toUpperCase() : key));
  return named[0] === "mod"
    ? ["Control", "Meta"].map((mod) => [mod, ...named.slice(1)].join("+")).join(" ")
    : named.join("+");
}

/** What sends a text of several lines. */
export const SUBMIT_KEYS = "mod+enter";

export const isSubmit = (event: { key: string; ctrlKey: boolean; metaKey: boolean }): boolean =>
  event.key === "Enter" && (event.ctrlKey || event.metaKey);
