// The message that is being written to an agent: in the box, in this browser, and in the server's draft.
// Invariants: what is typed is in this browser at once and at the server soon; a change from elsewhere is merged, not put
// over what was typed here; what is queued belongs to the server until it is taken back.

import { type DraftResponse, ForgeError, type Image } from "@forge/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { forge } from "../../../api/forge";
import { draftQuery } from "../../../api/queries/attempt";
import { keep, mergeText, readKept } from "./draft-merge";

const SAVE_MS = 400;
const RETRY_MS = 5_000;
const CONFLICT = 409;

interface DraftBox {
  text: string;
  images: readonly Image[];
  setText: (text: string) => void;
  setImages: (images: readonly Image[]) => void;
  /** The message that waits for the agent's end. */
  queued: string | undefined;
  /** Sends what the box holds, and empties it once `send` has succeeded. */
  send: (send: (text: string, imageIds: string[]) => Promise<unknown>) => Promise<void>;
  queue: () => Promise<void>;
  unqueue: () => Promise<void>;
}

export function useServerDraft(attemptId: string, taskId: string): DraftBox {
  const queries = useQueryClient();
  const { data: draft } = useQuery(draftQuery(attemptId));
  const [text, show] = useState(() => readKept(attemptId).text);
  const [images, showImages] = useState<readonly Image[]>([]);
  /** `base` is what the server's draft and this box agreed on last. */
  const box = useRef({ text, base: readKept(attemptId).base, imageIds: [] as string[], savedIds: "" });
  const latest = useRef<DraftResponse>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const saving = useRef<Promise<void>>(Promise.resolve());
  const again = useRef(() => Promise.resolve());

  const put = useCallback(
    (next: string) => {
      box.current.text = next;
      keep(attemptId, box.current);
      show(next);
    },
    [attemptId],
  );

  const learn = useCallback(
    (answer: DraftResponse) => queries.setQueryData(draftQuery(attemptId).queryKey, answer),
    [queries, attemptId],
  );

  const save = useCallback(async (): Promise<void> => {
    clearTimeout(timer.current);
    const { text, base, imageIds, savedIds } = box.current;
    const known = latest.current;
    if (known === undefined || known.queued || known.sending) return;
    if (text === base && imageIds.join() === savedIds) return;
    const change = { prompt: text, image_ids: imageIds, version: known.version };
    try {
      const answer = await forge.saveDraft(attemptId, "follow_up", change);
      box.current.base = text;
      box.current.savedIds = imageIds.join();
      keep(attemptId, box.current);
      latest.current = answer;
      learn(answer);
    } catch (error) {
      if (error instanceof ForgeError && error.status === CONFLICT) {
        learn(await forge.getDraft(attemptId, "follow_up"));
      } else {
        timer.current = setTimeout(() => void again.current(), RETRY_MS);
      }
    }
  }, [attemptId, learn]);

  /** One after the other, so that each knows the version that the one before has made. */
  const saveNow = useCallback((): Promise<void> => {
    saving.current = saving.current.then(save);
    return saving.current;
  }, [save]);

  again.current = saveNow;

  const saveSoon = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void saveNow(), SAVE_MS);
  }, [saveNow]);

  useEffect(() => {
    if (draft === undefined || draft === latest.current) return;
    latest.current = draft;
    const theirs = draft.queued || draft.sending ? "" : draft.prompt;
    const merged = mergeText(box.current.base, box.current.text, theirs);
    box.current.base = theirs;
    if (merged !== box.current.text) put(merged);
    else keep(attemptId, box.current);
    if (merged !== theirs) saveSoon();
    const ids = draft.queued ? [] : (draft.image_ids ?? []);
    box.current.savedIds = ids.join();
    const missing = ids.filter((id) => !box.current.imageIds.includes(id));
    if (missing.length === 0) return;
    box.current.imageIds = [...box.current.imageIds, ...missing];
    void forge.getTaskImages(taskId).then((all) => {
      showImages((shown) => [...shown, ...all.filter(({ id }) => missing.includes(id))]);
    });
  }, [draft, put, saveSoon, taskId, attemptId]);

  // What was typed in the last moment is saved when the screen is left.
  useEffect(() => () => void saveNow(), [saveNow]);

  const setImages = (next: readonly Image[]): void => {
    box.current.imageIds = next.map(({ id }) => id);
    showImages(next);
    saveSoon();
  };

  const empty = (sent: string): void => {
    box.current.imageIds = [];
    showImages([]);
    if (box.current.text === sent) {
      box.current.base = "";
      put("");
    }
  };

  return {
    text,
    images,
    queued: draft?.queued || draft?.sending ? draft.prompt : undefined,
    setText: (next) => {
      put(next);
      saveSoon();
    },
    setImages,
    send: async (send) => {
      // The server empties the draft that has the words of the message, so it must know the last of them.
      await saveNow();
      const sent = box.current.text;
      await send(sent, box.current.imageIds);
      empty(sent);
      learn(await forge.getDraft(attemptId, "follow_up"));
    },
    queue: async () => {
      await saveNow();
      const sent = box.current.text;
      const given = { path: { attempt_id: attemptId }, query: { type: "follow_up" } as const };
      const body = { queued: true, expected_version: latest.current?.version };
      learn(await forge.request("POST /api/task-attempts/{attempt_id}/draft/queue", { ...given, body }));
      empty(sent);
    },
    unqueue: async () => {
      learn(await forge.queueDraftExecution(attemptId, "follow_up", { execute: false }));
    },
  };
}
