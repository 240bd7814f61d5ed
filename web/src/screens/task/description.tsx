// What a task asks for: read as Markdown, written in the same box as a new one.

import type { Image, Task } from "@forge/client";
import { useQuery } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useRef, useState } from "react";
import { taskImagesQuery } from "../../api/queries/task";
import { type KeptDraft, useDraft } from "../../kept/draft";
import { withShownImages } from "../../parts/mention";
import { PromptBox } from "../../parts/prompt-box";
import { bind } from "../../shell/action";
import { useCommands } from "../../shell/commands";
import { Button } from "../../ui/button";
import { Markdown } from "../../ui/markdown";
import { TASK } from "./actions";
import { useTaskChange } from "./change";

export interface Writing {
  text: string;
  images: readonly Image[];
  /** What stood there when the writing began. */
  before: string;
}

function restore(kept: unknown): Writing | null {
  if (typeof kept !== "object" || kept === null || !("text" in kept) || typeof kept.text !== "string") return null;
  return {
    text: kept.text,
    images: "images" in kept && Array.isArray(kept.images) ? kept.images : [],
    before: "before" in kept && typeof kept.before === "string" ? kept.before : "",
  };
}

/** What is being written about a task; `null` while nobody writes. It outlives the page. */
export const useWriting = (taskId: string): KeptDraft<Writing | null> => useDraft(`description.${taskId}`, restore);

interface Props {
  task: Task;
  writing: KeptDraft<Writing | null>;
}

export function Description({ task, writing }: Props) {
  const { data: images } = useQuery(taskImagesQuery(task.id));
  const written = writing.value;
  const wroteHere = useRef(false);
  if (written !== null) wroteHere.current = true;
  const edit = (): void => {
    const before = task.description ?? "";
    if (written === null && images) writing.set({ text: before, images, before });
  };
  useCommands([bind(TASK.edit, edit)]);
  return (
    <section aria-labelledby="description" className="flex flex-col gap-2">
      <div className="flex h-7 items-center justify-between">
        <h2 id="description" className="font-medium text-muted text-sm">
          Description
        </h2>
        {written === null && images && (
          <Button
            size="sm"
            weight="ghost"
            icon={<Pencil className="size-3.5" aria-hidden />}
            // Whoever has just written here stays here.
            autoFocus={wroteHere.current}
            onClick={edit}
          >
            Edit
          </Button>
        )}
      </div>
      {written === null ? (
        <Reading text={task.description ?? ""} images={images ?? []} />
      ) : (
        <Edit task={task} written={written} writing={writing} />
      )}
    </section>
  );
}

function Reading({ text, images }: { text: string; images: readonly Image[] }) {
  const apart = images.filter(({ file_path }) => !text.includes(file_path));
  return (
    <div className="rounded-md border border-line bg-surface p-3 text-sm shadow-card">
      {text ? (
        <Markdown text={withShownImages(text, images)} />
      ) : (
        <p className="text-faint">No description. The agent gets the title alone.</p>
      )}
      {apart.length > 0 && (
        <ul aria-label="Images" className="mt-3 flex flex-wrap gap-2">
          {apart.map(({ id, original_name }) => (
            <li key={id}>
              <a href={`/api/images/${id}/file`} target="_blank" rel="noreferrer" className="block rounded-md">
                <img
                  src={`/api/images/${id}/file`}
                  alt={original_name}
                  className="size-20 rounded-md border border-line object-cover"
                />
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Edit({ task, written, writing }: Props & { written: Writing }) {
  const change = useTaskChange(task);
  const [uploading, setUploading] = useState(false);
  const save = (): void => {
    const body = { description: written.text.trim() || " ", image_ids: written.images.map(({ id }) => id) };
    change.mutate(body, { onSuccess: writing.clear });
  };
  const part = (next: Partial<Writing>): void => writing.set((now) => ({ ...(now ?? written), ...next }));
  const footer = (
    <>
      <Button size="sm" weight="ghost" disabled={change.isPending} onClick={writing.clear}>
        Cancel
      </Button>
      <Button size="sm" weight="primary" busy={change.isPending} disabled={uploading} onClick={save}>
        Save
      </Button>
    </>
  );
  const overtaken = !change.isPending && (task.description ?? "") !== written.before;
  return (
    <>
      <PromptBox
        projectId={task.project_id}
        label="Description"
        rows={6}
        preview
        autoFocus
        value={written.text}
        onChange={(text) => part({ text })}
        images={written.images}
        onImages={(images) => part({ images })}
        onSubmit={save}
        onUploading={setUploading}
        footer={footer}
      />
      <p role="status" className="text-warn text-xs empty:hidden">
        {overtaken && "The description was changed elsewhere since you began. Saving replaces it."}
      </p>
    </>
  );
}
