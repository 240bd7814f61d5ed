// Images of a prompt: taken in one by one, shown small, and taken away again.

import { ForgeError, type Image } from "@forge/client";
import { ImageOff, LoaderCircle, RotateCw, X } from "lucide-react";
import { useRef, useState } from "react";
import { forge } from "../api/forge";
import { messageOf, Problem } from "../ui/state";

export interface Upload {
  key: number;
  file: File;
  error: string | null;
  /** The same file will never be taken. */
  hopeless?: boolean;
}

let count = 0;

/** Sends files to the server; each ends as an image or with what is wrong with it. */
export function useUploads(onUploaded: (image: Image) => void) {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const done = useRef(onUploaded);
  done.current = onUploaded;
  const drop = (key: number): void => setUploads((all) => all.filter((each) => each.key !== key));
  const send = async (upload: Upload): Promise<void> => {
    const turn = (error: string | null, hopeless = false): void =>
      setUploads((all) => all.map((each) => (each.key === upload.key ? { ...each, error, hopeless } : each)));
    turn(null);
    try {
      const image = await forge.uploadImage(upload.file);
      drop(upload.key);
      done.current(image);
    } catch (error) {
      turn(messageOf(error), error instanceof ForgeError && error.isFinal);
    }
  };
  const add = (files: Iterable<File>): void => {
    for (const file of files) {
      const upload = { key: ++count, file, error: null };
      const isImage = file.type.startsWith("image/");
      setUploads((all) => [
        ...all,
        isImage ? upload : { ...upload, error: "This file is not an image.", hopeless: true },
      ]);
      if (isImage) void send(upload);
    }
  };
  const busy = uploads.some(({ error }) => error === null);
  return { uploads, add, drop, send, busy };
}

interface Props {
  images: readonly Image[];
  uploads: readonly Upload[];
  onRemove: (image: Image) => void;
  onDrop: (key: number) => void;
  onRetry: (upload: Upload) => void;
}

const REMOVE =
  "absolute -top-1.5 -right-1.5 flex size-6 pointer-coarse:size-11 pointer-coarse:-top-4 pointer-coarse:-right-4 items-center justify-center rounded-full border border-line bg-raised text-muted shadow-card hover:text-ink";

export function Thumbnails({ images, uploads, onRemove, onDrop, onRetry }: Props) {
  if (images.length === 0 && uploads.length === 0) return null;
  const failed = uploads.filter(({ error }) => error !== null);
  return (
    <div className="flex flex-col gap-2 px-2.5 pt-1 pb-2">
      <ul aria-label="Images" className="flex flex-wrap gap-3 empty:hidden">
        {images.map((image) => (
          <li key={image.id} className="relative" title={image.original_name}>
            <Thumbnail image={image} />
            <button
              type="button"
              aria-label={`Remove ${image.original_name}`}
              className={REMOVE}
              onClick={() => onRemove(image)}
            >
              <X className="size-3.5" aria-hidden />
            </button>
          </li>
        ))}
        {uploads
          .filter(({ error }) => error === null)
          .map(({ key, file }) => (
            <li
              key={key}
              role="status"
              title={file.name}
              className="flex size-14 items-center justify-center rounded-md border border-line bg-sunken text-faint"
            >
              <LoaderCircle className="size-4 animate-spin" aria-hidden />
              <span className="sr-only">Uploading {file.name}</span>
            </li>
          ))}
      </ul>
      {failed.map((upload) => (
        <Problem
          key={upload.key}
          look="xs"
          actions={
            <>
              {!upload.hopeless && (
                <button
                  type="button"
                  aria-label={`Upload ${upload.file.name} again`}
                  className="flex size-6 items-center justify-center rounded-sm text-muted hover:text-ink"
                  onClick={() => onRetry(upload)}
                >
                  <RotateCw className="size-3.5" aria-hidden />
                </button>
              )}
              <button
                type="button"
                aria-label={`Dismiss ${upload.file.name}`}
                className="flex size-6 items-center justify-center rounded-sm text-muted hover:text-ink"
                onClick={() => onDrop(upload.key)}
              >
                <X className="size-3.5" aria-hidden />
              </button>
            </>
          }
        >
          {upload.file.name}: {upload.error}
        </Problem>
      ))}
    </div>
  );
}

function Thumbnail({ image: { id, original_name } }: { image: Image }) {
  // Images that were never sent are forgotten when the server starts again.
  const [gone, setGone] = useState(false);
  if (gone) {
    return (
      <span className="flex size-14 items-center justify-center rounded-md border border-line bg-sunken text-faint">
        <ImageOff className="size-5" aria-hidden />
        <span className="sr-only">{original_name} is no longer there</span>
      </span>
    );
  }
  return (
    <a href={`/api/images/${id}/file`} target="_blank" rel="noreferrer" className="block rounded-md">
      <img
        src={`/api/images/${id}/file`}
        alt={original_name}
        className="size-14 rounded-md border border-line object-cover"
        onError={() => setGone(true)}
      />
    </a>
  );
}
