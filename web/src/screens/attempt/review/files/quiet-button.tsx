// A picture to press, for lists that make and drop many of them while they scroll: no tooltip of its own, only a title.

import type { ComponentProps } from "react";
import { cx } from "../../../../ui/class";

interface Props extends Omit<ComponentProps<"button">, "title"> {
  label: string;
}

export function QuietButton({ label, className, ...rest }: Props) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={cx(
        "flex size-7 shrink-0 items-center justify-center rounded-sm text-muted transition-colors hover:bg-hover hover:text-ink disabled:opacity-50 pointer-coarse:size-11",
        className,
      )}
      {...rest}
    />
  );
}
