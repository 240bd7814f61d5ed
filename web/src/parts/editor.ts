// Opens an attempt's worktree, or a file of it, where people edit.

import { forge } from "../api/forge";
import { messageOf } from "../ui/state";
import { toast } from "../ui/toast";

export async function openInEditor(attemptId: string, path?: string): Promise<void> {
  try {
    const { url } = await forge.openTaskAttemptInEditor(attemptId, path === undefined ? undefined : { file: path });
    if (url) window.open(url, "_blank", "noopener");
    else toast.done("Opened in the editor");
  } catch (error) {
    toast.failed(messageOf(error));
  }
}
