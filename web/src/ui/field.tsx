// Things to type into and choose from. Every one has a visible label, or a name for those who cannot see it.

import { type ComponentProps, type ReactNode, useId } from "react";
import { cx } from "./class";

const BOX =
  "w-full min-w-0 rounded-md border border-line bg-surface text-ink text-sm shadow-card transition-colors hover:border-line-strong focus-visible:border-accent focus-visible:outline-offset-0 disabled:opacity-60 aria-invalid:border-bad";

export const inputClass = cx(BOX, "h-8 px-2.5 pointer-coarse:h-11");

interface FieldProps {
  label: string;
  /** One sentence on what it means. */
  hint?: ReactNode;
  error?: string | null;
  hideLabel?: boolean;
  children: (ids: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": true | undefined;
  }) => ReactNode;
}

export function Field({ label, hint, error, hideLabel, children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={hideLabel ? "sr-only" : "font-medium text-muted text-xs"}>
        {label}
      </label>
      {children({ id, "aria-describedby": hint || error ? note : undefined, "aria-invalid": error ? true : undefined })}
      {(hint || error) && (
        <p id={note} className={cx("text-xs", error ? "text-bad" : "text-faint")} role={error ? "alert" : undefined}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

type Labelled<T> = T & Omit<FieldProps, "children">;

export function TextField({ label, hint, error, hideLabel, className, ...rest }: Labelled<ComponentProps<"input">>) {
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {(ids) => (
        <input {...ids} autoComplete="off" spellCheck={false} {...rest} className={cx(inputClass, className)} />
      )}
    </Field>
  );
}

export function TextArea({ label, hint, error, hideLabel, className, ...rest }: Labelled<ComponentProps<"textarea">>) {
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {(ids) => <textarea {...ids} {...rest} className={cx(BOX, "min-h-20 resize-y px-2.5 py-1.5", className)} />}
    </Field>
  );
}

interface SelectProps extends ComponentProps<"select"> {
  options: readonly { value: string; label: string }[];
}

export function Select({ label, hint, error, hideLabel, options, className, ...rest }: Labelled<SelectProps>) {
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {(ids) => (
        <select {...ids} {...rest} className={cx(inputClass, "pr-7", className)}>
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface SwitchProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

export function Switch({ label, hint, checked, disabled, onChange }: SwitchProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <button
        type="button"
        role="switch"
        id={id}
        aria-checked={checked}
        disabled={disabled}
        onClick={() => onChange(!checked)}
        className={cx(
          "mt-0.5 h-5 w-9 shrink-0 rounded-full border p-0.5 transition-colors disabled:opacity-50",
          checked ? "border-transparent bg-accent-fill" : "border-line-strong bg-sunken",
        )}
      >
        <span
          className={cx(
            "block size-3.5 rounded-full transition-transform",
            checked ? "translate-x-4 bg-on-accent" : "bg-faint",
          )}
        />
      </button>
      <label htmlFor={id} className="min-w-0 text-sm">
        {label}
        {hint && <span className="block text-faint text-xs">{hint}</span>}
      </label>
    </div>
  );
}
