// Asks the worker for the colours of a patch. Until they are there, and when there are too many lines, there are none.

import { useEffect, useState } from "react";
import type { HunkData, HunkTokens } from "react-diff-view";
import type { Done, Job } from "./colours.worker";

const MOST_LINES = 5_000;
const waiting = new Map<number, (tokens: HunkTokens | null) => void>();
let worker: Worker | undefined;
let jobs = 0;

function theWorker(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL("./colours.worker.ts", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }: MessageEvent<Done>) => {
    waiting.get(data.id)?.(data.tokens);
    waiting.delete(data.id);
  });
  return worker;
}

export function useTokens(hunks: HunkData[], language: string | undefined): HunkTokens | null {
  const [colours, setColours] = useState<{ hunks: HunkData[]; tokens: HunkTokens | null }>();
  useEffect(() => {
    const lines = hunks.reduce((sum, hunk) => sum + hunk.changes.length, 0);
    if (lines === 0 || lines > MOST_LINES) return;
    const id = ++jobs;
    waiting.set(id, (tokens) => setColours({ hunks, tokens }));
    theWorker().postMessage({ id, hunks, language } satisfies Job);
    return () => {
      waiting.delete(id);
    };
  }, [hunks, language]);
  // Tokens go by line numbers; those of other hunks would colour the wrong lines.
  return colours?.hunks === hunks ? colours.tokens : null;
}
