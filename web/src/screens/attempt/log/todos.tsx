import type { TodoItem } from "@forge/client";
import { ListTodo } from "lucide-react";
import { useState } from "react";
import { Chevron } from "./message";
import { TodoItems } from "./tool-body";
import { isBegun, progress } from "./tool-words";

/** The agent's own list, as it stands now. */
export function Todos({ items }: { items: readonly TodoItem[] }) {
  const [isOpen, setOpen] = useState(false);
  const current = items.find(isBegun);
  return (
    <section aria-label="The agent's list" className="rounded-md border border-line bg-surface text-sm">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-8 w-full items-center gap-2 rounded-md px-3 text-left hover:bg-hover"
      >
        <ListTodo className="size-4 shrink-0 text-faint" aria-hidden />
        <span className="shrink-0 font-medium tabular">{progress(items)}</span>
        <span className="min-w-0 flex-1 truncate text-muted">{current?.content ?? "To-dos"}</span>
        <Chevron isOpen={isOpen} />
      </button>
      {isOpen && (
        <div className="max-h-60 overflow-y-auto px-3 pt-1 pb-3">
          <TodoItems items={items} />
        </div>
      )}
    </section>
  );
}
