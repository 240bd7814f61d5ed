// Questions of agents, wherever the person is: a number in the title, and a notification when the page is not in front.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { approvalsQuery, infoQuery } from "../api/queries";

export function ApprovalWatch() {
  const { data: pending } = useQuery(approvalsQuery());
  const { data: info } = useQuery(infoQuery());
  const told = useRef<Set<string> | undefined>(undefined);
  const count = pending?.length ?? 0;
  useEffect(() => {
    const bare = document.title.replace(/^\(\d+\) /, "");
    document.title = count > 0 ? `(${count}) ${bare}` : bare;
  }, [count]);
  useEffect(() => {
    if (pending === undefined) return;
    const known = told.current;
    told.current = new Set(pending.map(({ id }) => id));
    // What waited before the page was opened is shown by it; only what is new is told.
    if (known === undefined || !info?.config.notifications.push_enabled) return;
    for (const { id, tool_name, message } of pending) {
      if (!known.has(id)) notify(`${tool_name} waits for your answer`, message, id);
    }
  }, [pending, info]);
  return null;
}

function notify(title: string, body: string, tag: string): void {
  if (!document.hidden || typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const notification = new Notification(title, { body, tag, icon: "/favicon.svg" });
  notification.onclick = () => {
    window.focus();
    notification.close();
  };
}
