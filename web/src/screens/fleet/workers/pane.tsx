// The screen of a worker, as text, and a line to type into it. It is looked at every two seconds while it is in sight.

import type { ListedWorker } from "@forge/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { CornerDownLeft, OctagonPause } from "lucide-react";
import { useLayoutEffect, useRef } from "react";
import { forge } from "../../../api/forge";
import { paneQuery } from "../../../api/queries/fleet";
import { useDraftText } from "../../../kept/draft";
import { Button, IconButton } from "../../../ui/button";
import { TextField } from "../../../ui/field";
import { messageOf } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { Section } from "../side-panel";

const LOOK_MS = 2_000;
/** How near to the end one reads when new lines should come into sight. */
const NEAR_PX = 24;

export function Pane({ worker }: { worker: ListedWorker }) {
  const { data, error } = useQuery({
    ...paneQuery(worker.id),
    refetchInterval: ({ state }) => (state.error ? 5 * LOOK_MS : LOOK_MS),
  });
  const box = useRef<HTMLElement>(null);
  const following = useRef(true);
  const text = data?.text.replace(/\s+$/, "") ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each new text
  useLayoutEffect(() => {
    if (following.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <Section title="Screen">
      <section
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must be reachable by keyboard
        tabIndex={0}
        aria-label="Screen of the worker"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          following.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
        }}
        className="h-72 overflow-auto rounded-md border border-line bg-sunken p-3"
      >
        <pre className="font-mono text-xs">
          {text || (
            <span className="whitespace-normal text-faint">
              {error ? messageOf(error) : data ? "Its screen is empty." : ""}
            </span>
          )}
        </pre>
      </section>
      {worker.managed && <Line workerId={worker.id} />}
    </Section>
  );
}

function Line({ workerId }: { workerId: string }) {
  const [line, keep, clear] = useDraftText(`worker.${workerId}`);
  const path = { worker_id: workerId };
  const send = useMutation({
    mutationFn: (line: string) => forge.request("POST /api/workers/{worker_id}/send", { path, body: { line } }),
    onSuccess: clear,
  });
  const interrupt = useMutation({
    mutationFn: () => forge.request("POST /api/workers/{worker_id}/interrupt", { path }),
    onSuccess: () => toast.done(`Interrupted ${workerId}`),
  });
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (line !== "" && !send.isPending) send.mutate(line);
      }}
    >
      <div className="min-w-0 flex-1">
        <TextField
          label="Send a line"
          hideLabel
          placeholder="Type a line, as if at its keyboard"
          value={line}
          onChange={(event) => keep(event.target.value)}
        />
      </div>
      <Button
        type="submit"
        busy={send.isPending}
        disabled={line === ""}
        icon={<CornerDownLeft className="size-4" aria-hidden />}
      >
        Send
      </Button>
      <IconButton
        label="Interrupt (Ctrl-C)"
        weight="plain"
        busy={interrupt.isPending}
        onClick={() => interrupt.mutate()}
      >
        <OctagonPause className="size-4" aria-hidden />
      </IconButton>
    </form>
  );
}
