// Small marks: what something is or how it stands, in a word.

import type { ReactNode } from "react";
import { cx } from "./class";

export type Tone = "neutral" | "accent" | "good" | "warn" | "bad" | "info" | "review";

const TONE: Record<Tone, string> = {
  neutral: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  review: "bg-review-soft text-review",
};

interface Props {
  tone?: Tone;
  icon?: ReactNode;
  title?: string;
  children: ReactNode;
}

export function Badge({ tone = "neutral", icon, title, children }: Props) {
  return (
    <span
      title={title}
      className={cx(
        "inline-flex h-5 max-w-full items-center gap-1 rounded-sm px-1.5 text-xs tabular [&_svg]:size-3",
        TONE[tone],
      )}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  );
}

const DOT: Record<Tone, string> = {
  neutral: "bg-faint",
  accent: "bg-accent",
  good: "bg-good",
  warn: "bg-warn",
  bad: "bg-bad",
  info: "bg-info",
  review: "bg-review",
};

/** A point of colour; never the only sign of something. */
export function Dot({ tone, alive }: { tone: Tone; alive?: boolean }) {
  return (
    <span
      aria-hidden
      className={cx("inline-block size-2 shrink-0 rounded-full", DOT[tone], alive && "animate-pulse-dot")}
    />
  );
}
