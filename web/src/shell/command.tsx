// An action as a button or as an entry of a menu. Name, key and whether it can be done come from the action.

import type { ComponentProps, ReactNode } from "react";
import { Button, IconButton } from "../ui/button";
import { ariaKeys } from "../ui/kbd";
import { MenuItem } from "../ui/menu";
import type { Command } from "./action";

type Of = { of: Command };

type ButtonProps = Of & Omit<ComponentProps<typeof Button>, "onClick">;

/** Where the name is too long for the button, or says too little there, the children are shown instead. */
export function CommandButton({ of, disabled, children, ...rest }: ButtonProps) {
  return (
    <Button
      {...rest}
      aria-keyshortcuts={ariaKeys(of.keys)}
      disabled={disabled || of.enabled === false}
      onClick={of.run}
    >
      {children ?? of.label}
    </Button>
  );
}

type IconProps = Of & { label?: string } & Omit<ComponentProps<typeof IconButton>, "onClick" | "keys" | "label">;

export function CommandIcon({ of, label = of.label, disabled, ...rest }: IconProps) {
  return (
    <IconButton
      {...rest}
      label={label}
      keys={of.keys}
      aria-keyshortcuts={ariaKeys(of.keys)}
      disabled={disabled || of.enabled === false}
      onClick={of.run}
    />
  );
}

type ItemProps = Of & { icon?: ReactNode; danger?: boolean; title?: string; children?: ReactNode };

export function CommandItem({ of, children, ...rest }: ItemProps) {
  return (
    <MenuItem {...rest} keys={of.keys} disabled={of.enabled === false} onSelect={of.run}>
      {children ?? of.label}
    </MenuItem>
  );
}
