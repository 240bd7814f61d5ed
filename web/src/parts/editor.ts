// Opens a project, an attempt's worktree, or a file of it, where people edit.

import { forge } from "../api/forge";
import { messageOf } from "../ui/state";
import { toast } from "../ui/toast";

export const openInEditor = (attemptId: string, path?: string): Promise<void> =>
  open(forge.openTaskAttemptInEditor(attemptId, path === undefined ? undefined : { file: path }));

export const openProjectInEditor = (projectId: string): Promise<void> => open(forge.openProjectInEditor(projectId));

async function open(opened: Promise<{ url?: string | null }>): Promise<void> {
  try {
    const { url } = await opened;
    if (url) window.open(url, "_blank", "noopener");
    else toast.done("Opened in the editor");
  } catch (error) {
    toast.failed(messageOf(error));
  }
}
