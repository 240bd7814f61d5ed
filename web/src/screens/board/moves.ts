// Moving tasks between columns: shown at once, taken back with the server's words when it refuses.
// Invariant: of several moves of one task only the last one is shown, whichever answer comes first.

import type { TaskStatus } from "@forge/client";
import { useCallback, useMemo, useRef, useState } from "react";
import { forge } from "../../api/forge";
import type { BoardTask as Task } from "../../live/tasks";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";
import type { Moves } from "./grouping";

interface Move {
  status: TaskStatus;
  nth: number;
}

/** The stream sends the change a moment before or after the answer; until then the move is held. */
const HOLD_MS = 1_500;

export function useMoves(projectId: string): { moves: Moves; move: (task: Task, status: TaskStatus) => void } {
  const [held, setHeld] = useState<ReadonlyMap<string, Move>>(new Map());
  const count = useRef(0);
  const release = useCallback((id: string, nth: number): void => {
    setHeld((before) => {
      if (before.get(id)?.nth !== nth) return before;
      const next = new Map(before);
      next.delete(id);
      return next;
    });
  }, []);
  const move = useCallback(
    (task: Task, status: TaskStatus): void => {
      const nth = ++count.current;
      setHeld((before) => new Map(before).set(task.id, { status, nth }));
      forge.updateTask(projectId, task.id, { status }).then(
        () => setTimeout(() => release(task.id, nth), HOLD_MS),
        (error) => {
          release(task.id, nth);
          toast.failed(`“${task.title}” was not moved: ${messageOf(error)}`);
        },
      );
    },
    [projectId, release],
  );
  const moves = useMemo(() => new Map([...held].map(([id, { status }]) => [id, status])), [held]);
  return { moves, move };
}
