import type { Diff, DiffDocument, TaskAttempt } from "@forge/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { render, screen } from "@testing-library/react";
import { test, vi } from "vitest";
import { forge } from "../../api/forge";
import { Tabs } from "./tabs";

const documentOf = (additions: number): DiffDocument => ({
  entries: { "a.ts": { type: "DIFF", content: { change: "modified", additions, deletions: 1 } as Diff } },
});

test("the figure of Changes follows the list below it, not a look that is seconds old", async () => {
  vi.spyOn(forge, "request").mockResolvedValue({ files_changed: 1, additions: 1, deletions: 1 });
  let grow: () => void = () => {};
  const grown = new Promise<void>((resolve) => {
    grow = resolve;
  });
  vi.spyOn(forge, "watchDiff").mockImplementation(async function* () {
    yield { document: documentOf(2), patch: [] };
    await grown;
    yield { document: documentOf(4), patch: [{ op: "replace", path: "/entries/a.ts", value: {} }] };
  });
  const attempt = { id: "a", project_id: "p", task_id: "t" } as TaskAttempt;
  const routeTree = createRootRoute({ component: () => <Tabs view="diffs" attempt={attempt} processes={[]} /> });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <RouterProvider router={createRouter({ routeTree, history: createMemoryHistory() }) as never} />
    </QueryClientProvider>,
  );
  const shows = (figure: RegExp) => screen.findByRole("link", { name: figure });
  await shows(/^Changes ?2 added/);
  grow();
  await shows(/^Changes ?4 added/);
});
