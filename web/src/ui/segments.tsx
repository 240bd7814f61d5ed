// A few ways to see or do the same thing, of which one is chosen. Arrow keys move between them.

import { ToggleGroup } from "radix-ui";
import type { ReactNode } from "react";

interface Props<V extends string> {
  label: string;
  value: V;
  onChange: (value: V) => void;
  options: readonly { value: V; label: ReactNode; disabled?: boolean }[];
}

export function Segments<V extends string>({ label, value, onChange, options }: Props<V>) {
  const choose = (next: string): void => {
    const option = options.find((each) => each.value === next);
    // The chosen one cannot be taken away, only changed.
    if (option) onChange(option.value);
  };
  return (
    <ToggleGroup.Root
      type="single"
      aria-label={label}
      value={value}
      onValueChange={choose}
      className="inline-flex rounded-md bg-sunken p-0.5"
    >
      {options.map(({ value, label, disabled }) => (
        <ToggleGroup.Item
          key={value}
          value={value}
          disabled={disabled}
          className="inline-flex h-7 items-center gap-1.5 rounded-sm px-2.5 text-muted text-sm transition-colors hover:text-ink disabled:opacity-50 data-[state=on]:bg-surface data-[state=on]:text-ink data-[state=on]:shadow-card pointer-coarse:h-11 [&_svg]:size-4"
        >
          {label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
