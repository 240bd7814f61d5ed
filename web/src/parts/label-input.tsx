// Labels as chips: Enter or a comma adds, Backspace in the empty field takes the last one away.

import { Tag, X } from "lucide-react";
import { type KeyboardEvent, useId, useState } from "react";
import { useChannel } from "../live/channel";
import { tasksChannel } from "../live/tasks";
import { addLabels, otherLabels } from "./labels";

interface Props {
  projectId: string;
  value: readonly string[];
  onChange: (labels: readonly string[]) => void;
  disabled?: boolean;
}

export function LabelInput({ projectId, value, onChange, disabled }: Props) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [focused, setFocused] = useState(false);
  const add = (text: string): void => {
    setTyped("");
    const next = addLabels(value, text);
    if (next !== value) onChange(next);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey) return;
    if ((event.key === "Enter" || event.key === ",") && typed.trim()) {
      event.preventDefault();
      add(typed);
    } else if (event.key === "Backspace" && typed === "" && value.length > 0) {
      onChange(value.slice(0, -1));
    }
  };
  return (
    <div className="flex min-h-8 flex-wrap items-center gap-1.5 rounded-md border border-line bg-surface px-2 py-1 shadow-card transition-colors focus-within:border-accent hover:border-line-strong">
      <Tag className="size-4 shrink-0 text-faint" aria-hidden />
      {value.map((label) => (
        <span
          key={label}
          className="inline-flex h-6 max-w-full pointer-coarse:h-11 items-center rounded-sm bg-sunken pl-1.5 text-muted text-xs"
        >
          <span className="truncate">{label}</span>
          <button
            type="button"
            aria-label={`Remove label ${label}`}
            disabled={disabled}
            className="flex size-6 items-center pointer-coarse:size-11 justify-center rounded-sm text-faint hover:text-ink"
            onClick={() => onChange(value.filter((each) => each !== label))}
          >
            <X className="size-3" aria-hidden />
          </button>
        </span>
      ))}
      <input
        aria-label="Labels"
        list={`${id}-known`}
        value={typed}
        disabled={disabled}
        placeholder={value.length === 0 ? "Labels" : undefined}
        autoComplete="off"
        className="h-6 pointer-coarse:h-9 min-w-24 flex-1 bg-transparent text-sm outline-none"
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false);
          add(typed);
        }}
        onKeyDown={press}
        onChange={(event) => {
          // A suggestion that is clicked comes whole, not letter by letter.
          const native = event.nativeEvent;
          const chosen = !(native instanceof InputEvent) || native.inputType === "insertReplacementText";
          if (chosen) add(event.target.value);
          else setTyped(event.target.value);
        }}
      />
      <datalist id={`${id}-known`}>{focused && <Known projectId={projectId} labels={value} />}</datalist>
    </div>
  );
}

function Known({ projectId, labels }: { projectId: string; labels: readonly string[] }) {
  const { value: tasks } = useChannel(tasksChannel(projectId));
  return otherLabels(tasks.values(), labels).map((label) => <option key={label} value={label} />);
}
