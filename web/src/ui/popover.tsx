// Something small that opens beside a button. Inside a dialog it stays within it, so that it scrolls and keeps the focus.

import { Popover as Radix } from "radix-ui";
import { type ReactNode, useRef, useState } from "react";
import { cx } from "./class";

/** Where layers above `element` belong: into the dialog around it, if there is one. */
export function layerOf(element: Element | null): HTMLElement | undefined {
  return element?.closest<HTMLElement>("[role=dialog]") ?? undefined;
}

export const popClass = "z-50 animate-enter rounded-md border border-line bg-raised shadow-pop outline-none";

interface Props {
  /** A button. */
  trigger: ReactNode;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  label: string;
  align?: "start" | "end";
  className?: string;
  children: ReactNode;
}

export function Popover({ trigger, open, onOpenChange, label, align = "start", className, children }: Props) {
  const anchor = useRef<HTMLButtonElement>(null);
  const [layer, setLayer] = useState<HTMLElement>();
  const turn = (next: boolean): void => {
    if (next) setLayer(layerOf(anchor.current));
    onOpenChange(next);
  };
  return (
    <Radix.Root open={open} onOpenChange={turn}>
      <Radix.Trigger asChild ref={anchor}>
        {trigger}
      </Radix.Trigger>
      <Radix.Portal container={layer}>
        <Radix.Content
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className={cx(
            popClass,
            "flex max-h-(--radix-popover-content-available-height) max-w-[calc(100vw-1rem)] flex-col",
            className,
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
