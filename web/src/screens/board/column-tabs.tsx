// The columns of a phone: one is shown, the others are a tap away. A card can be dropped on them, too.

import { useDroppable } from "@dnd-kit/react";
import type { TaskStatus } from "@forge/client";
import type { Column } from "../../parts/status";
import { cx } from "../../ui/class";

interface Props {
  columns: readonly Column[];
  counts: ReadonlyMap<TaskStatus, number> | undefined;
  chosen: TaskStatus;
  onChoose: (status: TaskStatus) => void;
}

export function ColumnTabs({ columns, counts, chosen, onChoose }: Props) {
  return (
    <fieldset className="flex shrink-0 gap-0.5 rounded-lg bg-sunken p-1">
      <legend className="sr-only">Column</legend>
      {columns.map((column) => (
        <ColumnTab
          key={column.status}
          column={column}
          count={counts?.get(column.status)}
          isChosen={column.status === chosen}
          onChoose={onChoose}
        />
      ))}
    </fieldset>
  );
}

interface TabProps {
  column: Column;
  count: number | undefined;
  isChosen: boolean;
  onChoose: (status: TaskStatus) => void;
}

function ColumnTab({ column: { status, title }, count, isChosen, onChoose }: TabProps) {
  const { ref, isDropTarget } = useDroppable({ id: status });
  return (
    <button
      ref={ref}
      type="button"
      aria-pressed={isChosen}
      onClick={() => onChoose(status)}
      className={cx(
        "flex h-12 min-w-0 flex-1 flex-col items-center justify-center rounded-md text-xs transition-colors",
        isDropTarget
          ? "bg-accent-soft text-accent"
          : isChosen
            ? "bg-surface font-medium text-ink shadow-card"
            : "text-muted hover:bg-hover",
      )}
    >
      <span className="text-sm tabular">{count?.toLocaleString("en-US") ?? "\u00a0"}</span>
      <span className="max-w-full truncate">{title}</span>
    </button>
  );
}
