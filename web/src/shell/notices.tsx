// Notifies the person of what happens while they look elsewhere: the number of waiting questions in the title, a sound, and a
// notification when the page is not in front. The last two as the settings say.

import type { ExecutionProcess, NotificationSettings } from "@forge/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { approvalsQuery, attemptQuery } from "../api/queries/attempt";
import { infoQuery } from "../api/queries/settings";
import { onAgentEnd } from "../live/ends";
import { agentLabel } from "../parts/agents";
import { useWaitingMark } from "./title";

export function Notices() {
  const queries = useQueryClient();
  const { data: pending } = useQuery(approvalsQuery());
  const { data: info } = useQuery(infoQuery());
  const announced = useRef<Set<string> | undefined>(undefined);
  const settings = info?.config.notifications;
  useWaitingMark(pending?.length ?? 0);
  useEffect(() => {
    if (pending === undefined) return;
    const known = announced.current;
    announced.current = new Set(pending.map(({ id }) => id));
    // What waited before the page was opened is shown by it; only what is new is announced.
    if (known === undefined) return;
    for (const { id, tool_name, message } of pending) {
      if (!known.has(id)) announce(settings, `${tool_name} waits for your answer`, message, id);
    }
  }, [pending, settings]);
  useEffect(
    () =>
      onAgentEnd(async (process) => {
        if (!settings?.sound_enabled && !settings?.push_enabled) return;
        const attempt = await queries.fetchQuery(attemptQuery(process.task_attempt_id ?? "")).catch(() => undefined);
        if (attempt)
          announce(settings, attempt.task.title, endOf(process, agentLabel(attempt.executor_profile_id)), process.id);
      }),
    [queries, settings],
  );
  return null;
}

function endOf({ status }: ExecutionProcess, agent: string): string {
  const word = { completed: "is done", failed: "failed", killed: "was stopped", running: "works" }[status];
  return `${agent} ${word}`;
}

function announce(settings: NotificationSettings | undefined, title: string, body: string, tag: string): void {
  // Browsers refuse sounds until the page was clicked once; then there is none.
  if (settings?.sound_enabled) void new Audio(`/api/sounds/${settings.sound_file}`).play().catch(() => {});
  if (!settings?.push_enabled || !document.hidden) return;
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const notification = new Notification(title, { body, tag, icon: "/favicon.svg" });
  notification.onclick = () => {
    window.focus();
    notification.close();
  };
}
