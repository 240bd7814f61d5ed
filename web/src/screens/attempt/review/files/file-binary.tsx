// A file that is not text: its pictures side by side, or how large it was and is.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fileAddress } from "../../../../api/forge";
import { fileSizeQuery } from "../../../../api/queries/review";
import type { ChangedFile } from "../../../../live/diff";
import { isImage } from "../../../../parts/patch/kind";
import type { Side } from "../../../../parts/patch/patch";
import { useDesk } from "../desk";

const UNITS = ["B", "kB", "MB", "GB"];

export function bytes(size: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, size)) / 3)));
  const value = size / 1000 ** unit;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function FileBinary({ file }: { file: ChangedFile }) {
  const { diff, path } = file;
  const sides: [Side, string, string][] = [];
  if (diff.change !== "added") sides.push(["old", "Before", diff.oldPath ?? path]);
  if (diff.change !== "deleted") sides.push(["new", "After", path]);
  return (
    <div className="grid gap-3 p-3 sm:grid-cols-2">
      {sides.map(([side, title, at]) => (
        <OneSide key={side} side={side} title={title} path={at} revision={file.revision} />
      ))}
    </div>
  );
}

function OneSide({ side, title, path, revision }: { side: Side; title: string; path: string; revision: number }) {
  const { attemptId } = useDesk();
  const [shape, setShape] = useState<string>();
  const [failed, setFailed] = useState(false);
  const { data: size } = useQuery(fileSizeQuery(attemptId, path, side, revision));
  const isPicture = isImage(path) && !failed;
  return (
    <figure className="flex min-w-0 flex-col gap-2 rounded-md border border-line bg-sunken p-3">
      <figcaption className="flex flex-wrap items-center gap-2 text-muted text-xs">
        <span className="font-medium text-ink">{title}</span>
        {size != null && <span className="tabular">{bytes(size)}</span>}
        {shape && <span className="tabular">{shape}</span>}
        {!isPicture && size == null && "Binary file"}
      </figcaption>
      {isPicture && (
        <div className="flex min-h-24 items-center justify-center">
          <img
            src={`${fileAddress(attemptId, path, side)}&at=${revision}`}
            alt={`${path}, ${title.toLowerCase()}`}
            className="max-h-96 max-w-full object-contain"
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              setShape(`${naturalWidth} × ${naturalHeight}`)
            }
            onError={() => setFailed(true)}
          />
        </div>
      )}
    </figure>
  );
}
