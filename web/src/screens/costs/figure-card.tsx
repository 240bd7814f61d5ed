import type { ReactNode } from "react";

/** A part of the screen with its title; what it holds reaches its edges. */
export function Card({ title, beside, children }: { title: string; beside?: ReactNode; children: ReactNode }) {
  return (
    <section className="min-w-0 overflow-hidden rounded-lg border border-line bg-surface shadow-card [&_thead]:bg-surface">
      <header className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
        <h2 className="font-medium text-sm">{title}</h2>
        {beside}
      </header>
      {children}
    </section>
  );
}

/** How much of the whole it is: a bar, and the figure beside it. */
export function Share({ part }: { part: number }) {
  return (
    <span className="flex items-center justify-end gap-2">
      <span aria-hidden className="h-1.5 w-16 overflow-hidden rounded-full bg-press max-sm:hidden">
        <span className="block h-full rounded-full bg-muted" style={{ width: `${part * 100}%` }} />
      </span>
      <span className="w-9">{part > 0 && part < 0.01 ? "<1" : Math.round(part * 100)}%</span>
    </span>
  );
}
