// The box under the transcript: what to say to the agent next, now or when it is done.

import type { TaskAttempt } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { Clock, CornerDownLeft, Pencil } from "lucide-react";
import { useRef, useState } from "react";
import { forge } from "../../../api/forge";
import { useConnection } from "../../../live/connection";
import { agentLabel } from "../../../parts/agents";
import { PromptBox } from "../../../parts/prompt-box";
import { bind } from "../../../shell/action";
import { useCommands } from "../../../shell/commands";
import { Button } from "../../../ui/button";
import { LOG } from "../actions";
import { useServerDraft } from "./server-draft";
import { TurnOptions } from "./turn-options";

/** Agents that hear a message in the middle of their work. */
const LISTENS: ReadonlySet<string> = new Set(["CLAUDE_CODE", "CODEX"]);

interface Props {
  attempt: TaskAttempt;
  /** The variant of the last turn. */
  variant: string | null;
  isRunning: boolean;
  onSwitchAgent: () => void;
  onSent: () => void;
}

export function Composer({ attempt, variant: lastVariant, isRunning, onSwitchAgent, onSent }: Props) {
  const draft = useServerDraft(attempt.id, attempt.task_id);
  const [variant, setVariant] = useState<string | null>();
  const [isFresh, setFresh] = useState(false);
  const [isUploading, setUploading] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const profile = attempt.executor_profile_id;
  const listens = LISTENS.has(profile.executor);
  const isEmpty = draft.text.trim() === "";

  const send = useMutation({
    mutationFn: () =>
      draft.send((prompt, image_ids) => {
        const body = { prompt, image_ids, fresh: isFresh || undefined, variant };
        return forge.request("POST /api/task-attempts/{attempt_id}/follow-up", {
          path: { attempt_id: attempt.id },
          body,
        });
      }),
    onSuccess: () => {
      setFresh(false);
      onSent();
    },
  });
  const queue = useMutation({ mutationFn: draft.queue });
  // What is typed is kept; it can be sent once there is somebody to take it.
  const isAway = useConnection().state === "lost";
  const isBusy = send.isPending || queue.isPending || isUploading || isAway;
  const why = isAway ? "Lost connection to Forge. Your draft is safe." : undefined;
  // What is queued cannot be joined by another message; an agent that listens gets it at once.
  const canQueue = isRunning && draft.queued === undefined && !isFresh;
  const submit = (): void => {
    if (isEmpty || isBusy) return;
    if (isRunning && !listens && canQueue) queue.mutate();
    else send.mutate();
  };

  useCommands([bind(LOG.message, () => box.current?.focus())]);

  const footer = (
    <>
      <TurnOptions
        executor={profile.executor}
        variant={variant === undefined ? lastVariant : variant}
        onVariant={setVariant}
        isFresh={isFresh}
        onFresh={setFresh}
        onSwitchAgent={onSwitchAgent}
      />
      {canQueue && (
        <Button
          size="sm"
          weight={listens ? "plain" : "primary"}
          disabled={isEmpty || isBusy}
          title={why}
          busy={queue.isPending}
          icon={<Clock className="size-4" aria-hidden />}
          onClick={() => queue.mutate()}
        >
          <span className="max-sm:hidden">Send after this turn</span>
          <span className="sm:hidden">Queue</span>
        </Button>
      )}
      {(!canQueue || listens) && (
        <Button
          size="sm"
          weight="primary"
          disabled={isEmpty || isBusy}
          title={why}
          busy={send.isPending}
          icon={<CornerDownLeft className="size-4" aria-hidden />}
          onClick={() => send.mutate()}
        >
          {isRunning && listens ? "Send now" : "Send"}
        </Button>
      )}
    </>
  );

  return (
    <div className="flex flex-col gap-2">
      {draft.queued !== undefined && <Queued text={draft.queued} onEdit={draft.unqueue} />}
      <PromptBox
        ref={box}
        projectId={attempt.project_id}
        label={`Message to ${agentLabel(profile)}`}
        value={draft.text}
        onChange={draft.setText}
        images={draft.images}
        onImages={draft.setImages}
        rows={2}
        placeholder={isRunning ? "Message the agent…" : "What's next?"}
        onSubmit={submit}
        onUploading={setUploading}
        footer={footer}
      />
    </div>
  );
}

function Queued({ text, onEdit }: { text: string; onEdit: () => Promise<void> }) {
  const edit = useMutation({ mutationFn: onEdit });
  return (
    <section
      aria-label="Queued message"
      className="flex items-start gap-2 rounded-md border border-line bg-sunken px-3 py-2"
    >
      <Clock className="mt-1 size-4 shrink-0 text-faint" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="text-faint text-xs">Queued. Sends when the agent finishes.</p>
        <p className="line-clamp-3 whitespace-pre-wrap break-words text-sm">{text}</p>
      </div>
      <Button
        size="sm"
        busy={edit.isPending}
        icon={<Pencil className="size-3.5" aria-hidden />}
        onClick={() => edit.mutate()}
      >
        Edit
      </Button>
    </section>
  );
}
