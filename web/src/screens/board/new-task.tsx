// The dialog for a new task, loaded when the page has nothing better to do: boards are looked at more often than written on.

import { lazy, Suspense, useEffect } from "react";

const load = () => import("./new-task-dialog");
const NewTaskDialog = lazy(async () => ({ default: (await load()).NewTaskDialog }));

const QUIET_MS = 300;

interface Props {
  projectId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

export function NewTask({ projectId, open, onOpenChange }: Props) {
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!open) return null;
  return (
    <Suspense fallback={null}>
      <NewTaskDialog key={projectId} projectId={projectId} onClose={() => onOpenChange(false)} />
    </Suspense>
  );
}
