import type { DispatchRule } from "@forge/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forge } from "../../../api/forge";
import { dispatchRuleQuery } from "../../../api/queries/fleet";
import { TooltipRoom } from "../../../ui/tooltip";
import { DispatchPanel } from "./dispatch-panel";

const rule = { mode: "attempt", landing: "review", close_on: "success", max_workers: null } as DispatchRule;

beforeEach(() => localStorage.clear());
afterEach(cleanup);

test("what was changed in the rule stays when somebody else saves it, and goes when it was sent", async () => {
  const request = vi.spyOn(forge, "request").mockResolvedValue({ definitions: [], problems: [] } as never);
  const queries = new QueryClient();
  const { queryKey } = dispatchRuleQuery("p");
  queries.setQueryData(queryKey, rule);
  render(
    <QueryClientProvider client={queries}>
      <TooltipRoom>
        <DispatchPanel projectId="p" onClose={() => {}} />
      </TooltipRoom>
    </QueryClientProvider>,
  );
  const most = screen.getByLabelText<HTMLInputElement>("At most at once");
  fireEvent.change(most, { target: { value: "3" } });
  queries.setQueryData(queryKey, { ...rule, landing: "merge" });
  await waitFor(() => expect(screen.getByLabelText<HTMLSelectElement>("When finished").value).toBe("merge"));
  expect(screen.getByLabelText<HTMLInputElement>("At most at once").value).toBe("3");
  request.mockResolvedValue({ ...rule, landing: "merge", max_workers: 3 } as never);
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(queries.getQueryData(queryKey)?.max_workers).toBe(3));
  expect(request.mock.lastCall?.[1]).toMatchObject({ body: { max_workers: 3 } });
  await waitFor(() => expect(screen.getByRole<HTMLButtonElement>("button", { name: "Save" }).disabled).toBe(true));
});
