// A list with what is open beside it. Where there is no room for both, what is open takes the place of the list.

import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { bind } from "../../shell/action";
import { CommandIcon } from "../../shell/command";
import { useCommands } from "../../shell/commands";
import { cx } from "../../ui/class";
import { Empty } from "../../ui/state";
import { FLEET } from "./actions";

/** The row that is open. Darker would leave too little contrast to its fainter words. */
export const SELECTED = "bg-hover shadow-[inset_2px_0_0_var(--color-accent)]";

export function Split({ toolbar, children, panel }: { toolbar?: ReactNode; children: ReactNode; panel: ReactNode }) {
  const list = useRef<HTMLDivElement>(null);
  const move = (by: 1 | -1): void => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const now = rows.findIndex((row) => row.matches(":focus"));
    const open = rows.findIndex((row) => row.ariaCurrent === "true");
    const from = now >= 0 ? now : open;
    rows[from < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, from + by))]?.focus();
  };
  useCommands([bind(FLEET.next, () => move(1)), bind(FLEET.before, () => move(-1))]);
  return (
    <div className="flex h-full min-h-0">
      <div className={cx("flex min-w-0 flex-1 flex-col", panel !== null && "max-lg:hidden")}>
        {toolbar && (
          <div className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-line border-b px-4 py-2">
            {toolbar}
          </div>
        )}
        <div ref={list} className="flex min-h-0 flex-1 flex-col">
          {children}
        </div>
      </div>
      {panel}
    </div>
  );
}

interface Props {
  title: string;
  /** Marks beside the title. */
  beside?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** Give it the id of what it shows as a key: the focus goes to its title when it is opened. */
export function Panel({ title, beside, onClose, children }: Props) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    head.current?.focus({ preventScroll: true });
    return () => {
      // Whoever has gone elsewhere meanwhile is left there.
      const lost = document.activeElement === document.body;
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const closes = bind(FLEET.close, onClose);
  useCommands([closes]);
  return (
    <aside
      aria-label={title}
      className="flex w-full shrink-0 flex-col border-line bg-surface lg:w-[27rem] lg:border-l xl:w-[34rem]"
    >
      <header className="flex min-h-12 shrink-0 items-center gap-2 border-line border-b px-4 py-2">
        <h2 ref={head} tabIndex={-1} className="min-w-0 truncate font-semibold text-base outline-none">
          {title}
        </h2>
        {beside}
        <CommandIcon of={closes} label="Close" size="sm" className="ml-auto">
          <X className="size-4" aria-hidden />
        </CommandIcon>
      </header>
      <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto p-4">{children}</div>
    </aside>
  );
}

/** What a link names and nobody has any more. */
export function Missing({ what, id, onClose }: { what: string; id: string; onClose: () => void }) {
  return (
    <Panel title={id} onClose={onClose}>
      <Empty title={`There is no ${what} called ${id}`}>It was removed, or it belongs to another project.</Empty>
    </Panel>
  );
}

export function Section({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <h3 className="font-medium text-faint text-xs">{title}</h3>
        {action && <div className="ml-auto">{action}</div>}
      </div>
      {children}
    </section>
  );
}

/** Names and values below each other. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
