// The inputs of the settings, bound to a form by `{...form.field("path")}`.

import { useEffect, useState } from "react";
import { cx } from "../../../ui/class";
import { Field, inputClass, Select, Switch, TextArea, TextField } from "../../../ui/field";
import { Problem } from "../../../ui/state";
import type { FormField } from "./settings-form";

interface Named {
  label: string;
  hint?: string;
}

/** As tall as its text, up to a limit. */
const GROWS = "field-sizing-content max-h-96";

type Props<V, More = unknown> = FormField<V> & Named & More;

interface TextMore {
  mono?: boolean;
  placeholder?: string;
  /** Offered while typing. */
  list?: string;
}

/** Text that may be empty: then it is null. */
export function TextSetting({ value, onChange, mono, ...rest }: Props<string | null, TextMore>) {
  return (
    <TextField
      {...rest}
      value={value ?? ""}
      className={cx(mono && "font-mono")}
      onChange={(event) => onChange(event.target.value || null)}
    />
  );
}

/** Text that must not be null. */
export function WordSetting({ value, onChange, mono, ...rest }: Props<string, TextMore>) {
  return (
    <TextField
      {...rest}
      value={value}
      className={cx(mono && "font-mono")}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

export function AreaSetting({
  value,
  onChange,
  mono,
  rows = 4,
  ...rest
}: Props<string | null, TextMore & { rows?: number }>) {
  return (
    <TextArea
      {...rest}
      value={value ?? ""}
      rows={rows}
      spellCheck={!mono}
      className={cx(GROWS, mono && "font-mono")}
      onChange={(event) => onChange(event.target.value || null)}
    />
  );
}

/** One entry per line. */
export function LinesSetting({ value, onChange, rows = 3, ...rest }: Props<readonly string[], { rows?: number }>) {
  return (
    <TextArea
      {...rest}
      value={value.join("\n")}
      rows={rows}
      spellCheck={false}
      className={cx(GROWS, "font-mono")}
      onChange={(event) => onChange(event.target.value === "" ? [] : event.target.value.split("\n"))}
    />
  );
}

export function SwitchSetting({ value, onChange, label, hint, error }: Props<boolean>) {
  return (
    <div>
      <Switch label={label} hint={hint} checked={value} onChange={onChange} />
      <Problem look="xs">{error}</Problem>
    </div>
  );
}

export function ChoiceSetting<V extends string>({
  value,
  onChange,
  options,
  ...rest
}: Props<V, { options: readonly { value: V; label: string }[] }>) {
  return (
    <Select
      {...rest}
      value={value}
      options={options}
      onChange={(event) => {
        const chosen = options.find((option) => option.value === event.target.value);
        if (chosen) onChange(chosen.value);
      }}
    />
  );
}

interface NumberMore {
  /** `s`, `MB`, `$`: shown in the box. */
  unit?: string;
  min?: number;
  max?: number;
  step?: number | "any";
  placeholder?: string;
  /** May be empty, which is null. */
  optional?: boolean;
}

/** A number; while it cannot be read the form keeps the last one that could. */
export function NumberSetting({
  label,
  hint,
  error,
  value,
  onChange,
  unit,
  optional,
  ...rest
}: Props<number | null | undefined, NumberMore>) {
  const stored = value == null ? "" : String(value);
  const [text, setText] = useState(stored);
  useEffect(() => setText((shown) => (Number(shown) === value && shown !== "" ? shown : stored)), [stored, value]);
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <span className="relative block">
          <input
            {...ids}
            {...rest}
            type="number"
            inputMode="decimal"
            value={text}
            className={cx(inputClass, "tabular", unit && "pr-12")}
            onChange={(event) => {
              setText(event.target.value);
              if (event.target.value === "") optional && onChange(null);
              else if (Number.isFinite(event.target.valueAsNumber)) onChange(event.target.valueAsNumber);
            }}
            onBlur={() => setText(stored)}
          />
          {unit && (
            <span className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-faint text-xs">
              {unit}
            </span>
          )}
        </span>
      )}
    </Field>
  );
}
