// Menus that drop down from a button.

import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "./class";
import { Kbd } from "./kbd";

export function Menu({
  trigger,
  align = "end",
  open,
  onOpenChange,
  onCloseFocus,
  children,
}: {
  trigger: ReactNode;
  align?: "start" | "end";
  /** For a menu that something else opens, too. */
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** Where the focus goes when it closes, if not to the trigger. */
  onCloseFocus?: () => void;
  children: ReactNode;
}) {
  const closeFocus = (event: Event): void => {
    event.preventDefault();
    onCloseFocus?.();
  };
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={onCloseFocus && closeFocus}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 max-w-80 animate-enter overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-pop"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ItemProps {
  icon?: ReactNode;
  keys?: string;
  danger?: boolean;
  disabled?: boolean;
  title?: string;
  onSelect: () => void;
  children: ReactNode;
}

const ITEM =
  "flex cursor-pointer select-none items-center gap-2 rounded-sm px-2 py-1.5 text-sm outline-none data-highlighted:bg-hover data-disabled:cursor-not-allowed data-disabled:opacity-50 pointer-coarse:min-h-11";

export function MenuItem({ icon, keys, danger, disabled, title, onSelect, children }: ItemProps) {
  return (
    <Radix.Item
      disabled={disabled}
      title={title}
      onSelect={onSelect}
      className={cx(ITEM, danger ? "text-bad" : "text-ink")}
    >
      {icon && <span className={cx("[&_svg]:size-4", !danger && "text-faint")}>{icon}</span>}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {keys && <Kbd keys={keys} />}
    </Radix.Item>
  );
}

export function MenuCheck({
  checked,
  onChange,
  children,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Radix.CheckboxItem
      checked={checked}
      onCheckedChange={onChange}
      // Several can be chosen without opening the menu again.
      onSelect={(event) => event.preventDefault()}
      className={cx(ITEM, "text-ink")}
    >
      <span
        className={cx(
          "size-4 rounded-sm border text-center text-xs leading-none",
          checked ? "border-accent bg-accent-fill text-on-accent" : "border-line-strong",
        )}
        aria-hidden
      >
        {checked && "✓"}
      </span>
      <span className="min-w-0 flex-1 truncate">{children}</span>
    </Radix.CheckboxItem>
  );
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="px-2 pt-1.5 pb-1 font-medium text-faint text-xs">{children}</Radix.Label>
);
export const MenuLine = () => <Radix.Separator className="my-1 h-px bg-line" />;
