// Comments under a line: written ones, and the box of one that is being written.

import { MessageSquare, Pencil, Trash2 } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Badge } from "../../../../ui/badge";
import { Button, IconButton } from "../../../../ui/button";
import { TextArea } from "../../../../ui/field";
import { isSubmit } from "../../../../ui/kbd";
import { Markdown } from "../../../../ui/markdown";
import { useDesk } from "../desk";
import type { Comment } from "./comments";

interface Props {
  comment: Comment;
  /** Why it is not under its line. */
  note?: string;
  onDone: () => void;
}

export function CommentCard({ comment, note, onDone }: Props) {
  return (
    <div className="mx-3 my-2 max-w-3xl rounded-md border border-line bg-raised shadow-card">
      {note && (
        <div className="flex min-w-0 items-center gap-2 border-line border-b px-3 py-1.5">
          <Badge tone="warn">{note}</Badge>
          <code className="truncate font-mono text-faint text-xs">{comment.quote.split("\n").at(-1)?.trim()}</code>
        </div>
      )}
      {comment.draft === null ? (
        <Written comment={comment} />
      ) : (
        <Box comment={comment} draft={comment.draft} onDone={onDone} />
      )}
    </div>
  );
}

export function linesTitle({ start, end, side }: Comment): string {
  const lines = start === end ? `Line ${end}` : `Lines ${start}–${end}`;
  return side === "old" ? `${lines}, before` : lines;
}

function Written({ comment }: { comment: Comment }) {
  const { comments } = useDesk();
  return (
    <div className="group flex items-start gap-2 py-2 pr-2 pl-3">
      <MessageSquare className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="text-faint text-xs">{linesTitle(comment)} · Pending</p>
        <Markdown text={comment.text} className="text-sm" />
      </div>
      <IconButton label="Edit comment" size="sm" onClick={() => comments.edit(comment.id)}>
        <Pencil className="size-3.5" aria-hidden />
      </IconButton>
      <IconButton label="Remove comment" size="sm" onClick={() => comments.remove(comment.id)}>
        <Trash2 className="size-3.5" aria-hidden />
      </IconButton>
    </div>
  );
}

function Box({ comment, draft, onDone }: { comment: Comment; draft: string; onDone: () => void }) {
  const { comments } = useDesk();
  const [text, setText] = useState(draft);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Boxes that come back with the page must not take the focus from whoever just opened it.
    if (comments.takeFocus(comment.id)) box.current?.querySelector("textarea")?.focus();
  }, [comments, comment.id]);
  const change = (next: string): void => {
    setText(next);
    comments.type(comment.id, next);
  };
  const save = (): void => {
    if (text.trim() === "") return;
    comments.save(comment.id, text);
    onDone();
  };
  const cancel = (): void => {
    comments.cancel(comment.id);
    onDone();
  };
  const listen = (event: KeyboardEvent): void => {
    const isSave = isSubmit(event);
    if (isSave) save();
    // Escape must not throw away what was written.
    else if (event.key === "Escape" && text.trim() === comment.text) cancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the text field inside
    <div ref={box} className="flex flex-col gap-2 p-2" onKeyDown={listen}>
      <TextArea
        label={`Comment on ${linesTitle(comment).toLowerCase()} of ${comment.path}`}
        hideLabel
        rows={3}
        value={text}
        placeholder="Leave a comment for the agent (Markdown supported)"
        onChange={(event) => change(event.target.value)}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="mr-auto text-faint text-xs">{linesTitle(comment)}</span>
        <Button size="sm" weight="ghost" onClick={cancel}>
          Cancel
        </Button>
        <Button size="sm" weight="primary" disabled={text.trim() === ""} onClick={save}>
          Add comment
        </Button>
      </div>
    </div>
  );
}
