// Buttons: one shape, four weights. A button that works says so and cannot be pressed twice.

import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { cx } from "./class";
import { Tooltip } from "./tooltip";

type Weight = "primary" | "plain" | "ghost" | "danger";
type Size = "sm" | "md";

const WEIGHT: Record<Weight, string> = {
  primary: "bg-accent-fill text-on-accent hover:bg-accent-fill-hover font-medium shadow-card",
  plain: "bg-surface text-ink border border-line hover:bg-hover hover:border-line-strong shadow-card",
  ghost: "text-muted hover:bg-hover hover:text-ink",
  danger: "bg-bad-soft text-bad border border-transparent hover:border-bad font-medium",
};

const SIZE: Record<Size, string> = {
  sm: "h-7 gap-1.5 rounded-sm px-2 text-sm",
  md: "h-8 gap-2 rounded-md px-3 text-sm",
};

const BASE =
  "inline-flex shrink-0 items-center justify-center whitespace-nowrap select-none transition-colors duration-100 disabled:opacity-50 pointer-coarse:min-h-11";

/** For links that look like buttons. */
export function buttonClass(weight: Weight = "plain", size: Size = "md"): string {
  return cx(BASE, WEIGHT[weight], SIZE[size]);
}

interface Props extends ComponentProps<"button"> {
  weight?: Weight;
  size?: Size;
  icon?: ReactNode;
  busy?: boolean;
}

export function Button({ weight = "plain", size = "md", icon, busy, className, children, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      className={cx(buttonClass(weight, size), className)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy ? <LoaderCircle className="size-4 animate-spin" aria-hidden /> : icon}
      {children}
    </button>
  );
}

interface IconProps extends Omit<Props, "children" | "icon"> {
  /** What it does; shown as a tooltip and read out. */
  label: string;
  keys?: string;
  children: ReactNode;
}

/** A button that is only a picture. */
export function IconButton({
  label,
  keys,
  weight = "ghost",
  size = "md",
  busy,
  className,
  children,
  ...rest
}: IconProps) {
  return (
    <Tooltip label={label} keys={keys}>
      <button
        type="button"
        aria-label={label}
        className={cx(
          BASE,
          WEIGHT[weight],
          size === "sm" ? "size-7 rounded-sm" : "size-8 rounded-md",
          "pointer-coarse:min-w-11",
          className,
        )}
        aria-busy={busy || undefined}
        {...rest}
        disabled={rest.disabled || busy}
      >
        {busy ? <LoaderCircle className="size-4 animate-spin" aria-hidden /> : children}
      </button>
    </Tooltip>
  );
}
