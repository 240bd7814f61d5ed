const MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const WORDS: Record<string, string> = {
  mod: MAC ? "⌘" : "Ctrl",
  shift: "⇧",
  enter: "↵",
  escape: "Esc",
  alt: MAC ? "⌥" : "Alt",
};

/** Keys such as `mod+k` or `g b`, as the reader's keyboard calls them. */
export function Kbd({ keys }: { keys: string }) {
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
