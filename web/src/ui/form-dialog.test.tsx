import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useConfirm } from "./dialog";
import { FormDialog } from "./form-dialog";
import { TooltipRoom } from "./tooltip";

afterEach(cleanup);

test("a form is sent by its button and by a key, and not while it is busy or not ready", () => {
  const [send, outer] = [vi.fn(), vi.fn()];
  const shown = (busy: boolean, blocked: boolean) => (
    <TooltipRoom>
      <form onSubmit={outer}>
        <FormDialog title="Name it" verb="Save" busy={busy} blocked={blocked} onSubmit={send} onClose={() => {}}>
          <input aria-label="Name" />
        </FormDialog>
      </form>
    </TooltipRoom>
  );
  const { rerender } = render(shown(false, true));
  const enter = (): void => {
    const form = screen.getByLabelText("Name").closest("form");
    if (form) fireEvent.submit(form);
  };
  enter();
  rerender(shown(true, false));
  enter();
  expect(send).not.toHaveBeenCalled();
  rerender(shown(false, false));
  enter();
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(send).toHaveBeenCalledTimes(2);
  expect(outer).not.toHaveBeenCalled();
});

function Asking({ deed }: { deed: () => Promise<unknown> }) {
  const { ask, dialog } = useConfirm();
  return (
    <>
      <button type="button" onClick={() => ask({ title: "Sure?", about: "", verb: "Do it", onConfirm: deed })}>
        Ask
      </button>
      {dialog}
    </>
  );
}

test("what a question leads to and fails is reported once, and the question stays to be tried again", async () => {
  const failed = vi.fn();
  const deed = vi.fn().mockRejectedValueOnce(new Error("not now")).mockResolvedValueOnce(undefined);
  const queries = new QueryClient({ mutationCache: new MutationCache({ onError: failed }) });
  render(
    <QueryClientProvider client={queries}>
      <TooltipRoom>
        <Asking deed={deed} />
      </TooltipRoom>
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByText("Ask"));
  fireEvent.click(screen.getByText("Do it"));
  await waitFor(() => expect(failed).toHaveBeenCalledTimes(1));
  expect(screen.queryByText("Sure?")).not.toBeNull();
  fireEvent.click(screen.getByText("Do it"));
  await waitFor(() => expect(screen.queryByText("Sure?")).toBeNull());
  expect(failed).toHaveBeenCalledTimes(1);
});
