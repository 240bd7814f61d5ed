// The title of a task, changed where it stands. Enter and leaving keep it, Escape does not.

import type { Task } from "@forge/client";
import { Pencil } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import { useDraft } from "../../kept/draft";
import { useTaskChange } from "./change";

const asText = (kept: unknown): string | null => (typeof kept === "string" ? kept : null);
const SHAPE = "w-full rounded-md px-2 py-1 font-semibold text-lg";

export function Title({ task }: { task: Task }) {
  const { value: written, set, clear } = useDraft(`title.${task.id}`, asText);
  const change = useTaskChange(task);
  // By key, the focus goes back to where it was; by mouse, it is where the mouse is.
  const back = useRef(false);
  const keep = (): void => {
    const title = written?.trim();
    if (change.isPending) return;
    if (title && title !== task.title) change.mutate({ title }, { onSuccess: clear });
    else clear();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    back.current = event.key === "Enter" || event.key === "Escape";
    if (event.key === "Enter") keep();
    if (event.key === "Escape") clear();
  };
  if (written === null) {
    return (
      <h1 className="-mx-2 min-w-0">
        <button
          type="button"
          title="Change the title"
          // biome-ignore lint/a11y/noAutofocus: see above
          autoFocus={back.current}
          onClick={() => set(task.title)}
          className={`${SHAPE} group flex items-start gap-2 break-words text-left hover:bg-hover`}
        >
          <span className="min-w-0 [overflow-wrap:anywhere]">{task.title || "Untitled"}</span>
          <Pencil
            className="mt-1.5 size-4 shrink-0 text-faint opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100"
            aria-hidden
          />
        </button>
      </h1>
    );
  }
  return (
    <h1 className="-mx-2 min-w-0">
      <input
        aria-label="Title"
        value={written}
        autoComplete="off"
        readOnly={change.isPending}
        // biome-ignore lint/a11y/noAutofocus: it was asked for
        autoFocus
        className={`${SHAPE} bg-surface`}
        onChange={(event) => set(event.target.value)}
        onBlur={keep}
        onKeyDown={press}
      />
    </h1>
  );
}
