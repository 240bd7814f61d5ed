// The review before it is sent: every comment, a remark about the whole, and what the agent will read.
// Invariant: nothing is cleared before the server took it.

import { useMutation } from "@tanstack/react-query";
import { Send, Trash2 } from "lucide-react";
import { useState } from "react";
import { forge } from "../../../../api/forge";
import { PathName } from "../../../../parts/changed";
import { Badge } from "../../../../ui/badge";
import { Button, IconButton } from "../../../../ui/button";
import { TextArea } from "../../../../ui/field";
import { FormDialog } from "../../../../ui/form-dialog";
import { Markdown } from "../../../../ui/markdown";
import { messageOf } from "../../../../ui/state";
import { toast } from "../../../../ui/toast";
import { useDesk } from "../desk";
import { linesTitle } from "./comment-box";
import { type Comment, useComments, writtenOnes } from "./comments";
import { composeReview, joinPrompts } from "./compose";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  isRunning: boolean;
  /** Of the files that are changed now. */
  paths: ReadonlySet<string>;
  onChoose: (path: string) => void;
}

/** Behind what waits there already: somebody may have queued a message before. */
async function queue(attemptId: string, review: string): Promise<void> {
  const waiting = await forge.getDraft(attemptId, "follow_up");
  if (waiting.queued) await forge.queueDraftExecution(attemptId, "follow_up", { execute: false });
  await forge.saveDraft(attemptId, "follow_up", { prompt: joinPrompts(waiting.prompt, review) });
  await forge.queueDraftExecution(attemptId, "follow_up", { execute: true });
}

export function ReviewTray({ open, onOpenChange, isRunning, paths, onChoose }: Props) {
  const { attemptId, comments } = useDesk();
  const draft = useComments(comments);
  const written = writtenOnes(draft);
  const [preview, setPreview] = useState(false);
  const [overall, setOverall] = useState(draft.overall);
  const message = composeReview(written, overall);
  const send = useMutation({
    mutationFn: async () => {
      const ids = new Set(written.map((comment) => comment.id));
      if (isRunning) await queue(attemptId, message);
      else await forge.followUpTaskAttempt(attemptId, message);
      return ids;
    },
    onSuccess: (ids) => {
      comments.clearSent(ids);
      setOverall("");
      onOpenChange(false);
      toast.done(isRunning ? "The review is queued for the agent" : "The review was sent to the agent");
    },
    onError: () => {},
  });
  const type = (text: string): void => {
    setOverall(text);
    comments.typeOverall(text);
  };
  const unsaved = draft.comments.filter((comment) => comment.draft !== null && comment.draft.trim() !== "").length;
  return (
    <FormDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title={written.length > 0 ? `Review (${written.length})` : "Review"}
      about={
        isRunning
          ? "The agent is running. Your comments are sent together when it finishes."
          : "Comments are sent to the agent together."
      }
      width="lg"
      verb={isRunning ? "Queue for the agent" : "Send to the agent"}
      icon={<Send className="size-4" aria-hidden />}
      busy={send.isPending}
      blocked={message === ""}
      onSubmit={() => send.mutate()}
      beside={
        <Button onClick={() => setPreview(!preview)} aria-pressed={preview}>
          {preview ? "Edit" : "Preview"}
        </Button>
      }
      problem={send.error && messageOf(send.error)}
    >
      {preview ? (
        <div className="min-h-48 rounded-md border border-line bg-sunken p-3">
          {message ? (
            <Markdown text={message} className="text-sm" />
          ) : (
            <p className="text-faint text-sm">Nothing yet.</p>
          )}
        </div>
      ) : (
        <>
          <TextArea
            label="Overall comment"
            rows={3}
            value={overall}
            placeholder="What should happen next?"
            onChange={(event) => type(event.target.value)}
          />
          {unsaved > 0 && (
            <p className="text-sm text-warn">
              {unsaved === 1 ? "One comment is" : `${unsaved} comments are`} still being written and will not be sent.
            </p>
          )}
          <CommentList
            written={written}
            paths={paths}
            onChoose={(path) => {
              onOpenChange(false);
              onChoose(path);
            }}
          />
        </>
      )}
    </FormDialog>
  );
}

interface ListProps {
  written: readonly Comment[];
  paths: ReadonlySet<string>;
  onChoose: (path: string) => void;
}

function CommentList({ written, paths, onChoose }: ListProps) {
  const { comments } = useDesk();
  if (written.length === 0) {
    return <p className="text-faint text-sm">No comments yet. Click a line number, or choose a line and press c.</p>;
  }
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {written.map((comment) => (
        <li key={comment.id} className="flex items-start gap-2 py-2 pr-2 pl-3">
          <div className="min-w-0 flex-1">
            <button
              type="button"
              className="flex max-w-full items-center gap-2 rounded-sm text-xs hover:underline"
              onClick={() => onChoose(comment.path)}
            >
              <PathName path={comment.path} />
              <span className="shrink-0 text-faint">{linesTitle(comment)}</span>
            </button>
            {!paths.has(comment.path) && <Badge tone="warn">Outdated: this file no longer differs</Badge>}
            <Markdown text={comment.text} className="text-sm" />
          </div>
          <IconButton label="Remove comment" size="sm" onClick={() => comments.remove(comment.id)}>
            <Trash2 className="size-3.5" aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
