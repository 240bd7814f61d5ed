// The head of a screen and its title in the browser.

import type { ReactNode } from "react";
import { useTitle } from "./title";

interface Props {
  title: string;
  /** Beside the title: counts, marks. */
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, beside, actions, children }: Props) {
  useTitle(title);
  return (
    <div className="flex h-full flex-col">
      <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-line border-b px-4 py-2">
        <h1 className="truncate font-semibold text-md">{title}</h1>
        {beside}
        {actions && <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
    </div>
  );
}
