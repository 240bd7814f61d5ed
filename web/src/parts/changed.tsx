// How a file or an attempt changed, in a few signs: the path, and the lines that came and went.

import { short } from "../ui/format";

interface FiguresProps {
  additions: number | null;
  deletions: number | null;
  /** `1.2k` instead of `1234`, where there is little room. */
  brief?: boolean;
}

/** `+12 −3`, with the words for those who do not see the signs. */
export function Figures({ additions, deletions, brief }: FiguresProps) {
  if (additions === null && deletions === null) return null;
  const shown = (lines: number | null): string => (brief ? short(lines ?? 0) : String(lines ?? 0));
  return (
    <span className="inline-flex shrink-0 gap-1 text-xs tabular">
      <span className="text-good">
        <span aria-hidden>+</span>
        {shown(additions)}
        <span className="sr-only"> added, </span>
      </span>
      <span className="text-bad">
        <span aria-hidden>−</span>
        {shown(deletions)}
        <span className="sr-only"> removed</span>
      </span>
    </span>
  );
}

/** The folder gives way before the name. */
export function PathName({ path, was }: { path: string; was?: string }) {
  const cut = path.lastIndexOf("/") + 1;
  return (
    <span className="flex min-w-0 items-baseline font-mono text-xs" title={was ? `${was} → ${path}` : path}>
      {was && <span className="truncate text-faint">{was}&nbsp;→&nbsp;</span>}
      <span className="truncate text-muted">{path.slice(0, cut)}</span>
      <span className="shrink-0 font-medium">{path.slice(cut)}</span>
    </span>
  );
}
