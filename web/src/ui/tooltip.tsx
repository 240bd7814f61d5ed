import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Kbd } from "./kbd";

export const TooltipRoom = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={350} skipDelayDuration={150}>
    {children}
  </Radix.Provider>
);

/** A word about what is under the pointer or has the focus. The child must have a name of its own. */
export function Tooltip({ label, keys, children }: { label: string; keys?: string; children: ReactNode }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-72 animate-enter items-center gap-2 rounded-sm border border-line bg-raised px-2 py-1 text-ink text-xs shadow-pop"
        >
          {label}
          {keys && <Kbd keys={keys} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
