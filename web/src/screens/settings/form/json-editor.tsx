// Writes JSON by hand: numbered lines, and what is wrong at its line while it is typed.

import { CircleAlert } from "lucide-react";
import { useMemo, useRef } from "react";
import { cx } from "../../../ui/class";
import { Field } from "../../../ui/field";
import { type JsonFault, readJson } from "./json-text";

interface Props {
  label: string;
  hideLabel?: boolean;
  value: string;
  onChange: (text: string) => void;
  /** What somebody else found wrong with it; the text's own faults come first. */
  fault?: JsonFault | null;
  rows?: number;
}

export function JsonEditor({ label, hideLabel, value, onChange, fault, rows = 16 }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const read = useMemo(() => readJson(value), [value]);
  const wrong = "fault" in read ? read.fault : (fault ?? null);
  const lines = value.split("\n").length;
  const goThere = (line: number): void => {
    const at =
      value
        .split("\n")
        .slice(0, line - 1)
        .join("\n").length + (line > 1 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(at, at);
    area.current?.scrollTo({ top: (line - 4) * 20 });
  };
  return (
    <div className="flex flex-col gap-1">
      <Field label={label} hideLabel={hideLabel}>
        {(ids) => (
          <div
            className={cx(
              "flex overflow-hidden rounded-md border bg-canvas font-mono text-xs leading-5 focus-within:border-accent",
              wrong ? "border-bad" : "border-line",
            )}
          >
            <div
              ref={gutter}
              aria-hidden
              className="w-10 shrink-0 select-none overflow-hidden border-line border-r bg-sunken py-2 text-right text-faint"
              style={{ height: rows * 20 + 16 }}
            >
              {Array.from({ length: lines }, (_, at) => (
                <div
                  // biome-ignore lint/suspicious/noArrayIndexKey: lines are known by their number
                  key={at}
                  className={cx("pr-2", wrong?.line === at + 1 && "bg-bad-soft text-bad")}
                >
                  {at + 1}
                </div>
              ))}
            </div>
            <textarea
              {...ids}
              ref={area}
              value={value}
              wrap="off"
              spellCheck={false}
              autoCapitalize="off"
              autoComplete="off"
              aria-invalid={wrong ? true : undefined}
              className="min-w-0 flex-1 resize-none bg-transparent px-2 py-2 text-ink outline-none"
              style={{ height: rows * 20 + 16 }}
              onChange={(event) => onChange(event.target.value)}
              onScroll={(event) => gutter.current?.scrollTo({ top: event.currentTarget.scrollTop })}
            />
          </div>
        )}
      </Field>
      <div aria-live="polite" className="min-h-6">
        {wrong && (
          <button
            type="button"
            className="flex min-h-6 items-start gap-1.5 rounded-sm text-left text-bad text-xs hover:underline"
            onClick={() => goThere(wrong.line)}
          >
            <CircleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
            Line {wrong.line}: {wrong.message}
          </button>
        )}
      </div>
    </div>
  );
}
