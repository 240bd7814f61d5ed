// Short messages at the edge. Read out politely; they leave by themselves, errors only when they are dismissed.

import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useEffect } from "react";
import { cx } from "./class";
import { makeStore, useStore } from "./store";

interface Toast {
  id: number;
  tone: "good" | "bad";
  text: string;
}

const SHOWN_MS = 4_000;
const MOST = 4;
const toasts = makeStore<readonly Toast[]>([]);
let count = 0;

function add(tone: Toast["tone"], text: string): void {
  const rest = toasts.read().filter((toast) => toast.text !== text);
  toasts.set([...rest, { id: ++count, tone, text }].slice(-MOST));
}

const dismiss = (id: number): void => toasts.set(toasts.read().filter((toast) => toast.id !== id));

export const toast = {
  done: (text: string): void => add("good", text),
  failed: (text: string): void => add("bad", text),
};

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      className="pointer-events-none fixed right-3 bottom-3 z-50 flex w-[min(24rem,calc(100vw-1.5rem))] flex-col gap-2"
    >
      {shown.map((toast) => (
        <Message key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function Message({ toast: { id, tone, text } }: { toast: Toast }) {
  useEffect(() => {
    if (tone === "bad") return;
    const timer = setTimeout(() => dismiss(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, tone]);
  const Icon = tone === "good" ? CircleCheck : CircleAlert;
  return (
    <div className="pointer-events-auto flex animate-enter items-start gap-2.5 rounded-md border border-line bg-raised p-3 text-sm shadow-pop">
      <Icon className={cx("mt-0.5 size-4 shrink-0", tone === "good" ? "text-good" : "text-bad")} aria-hidden />
      <p className="min-w-0 flex-1 break-words">{text}</p>
      <button
        type="button"
        aria-label="Dismiss"
        className="rounded-sm p-0.5 text-faint hover:text-ink"
        onClick={() => dismiss(id)}
      >
        <X className="size-4" aria-hidden />
      </button>
    </div>
  );
}
