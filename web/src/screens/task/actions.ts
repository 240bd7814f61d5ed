import { actionsAt } from "../../shell/action";

export const TASK = actionsAt("task", "Task", {
  start: { label: "Start an attempt", keys: "s", words: "run agent" },
  edit: { label: "Edit the description", keys: "e" },
  delete: { label: "Delete the task" },
});
