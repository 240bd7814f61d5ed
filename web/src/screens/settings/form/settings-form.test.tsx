import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { unsaved, useForm } from "./settings-form";

interface Thing {
  name: string;
  deep: { size: number };
}

type Send = (change: Record<string, unknown>) => Promise<unknown>;

function Screen({ send }: { send: Send }) {
  const [stored, setStored] = useState<Thing>({ name: "old", deep: { size: 1 } });
  const form = useForm({
    name: "thing",
    stored,
    send: async (change) => {
      await send(change);
      setStored((thing) => ({ ...thing, ...change }));
    },
  });
  const name = form.field("name");
  return (
    <>
      <input aria-label="name" value={name.value} onChange={(event) => name.onChange(event.target.value)} />
      <p data-testid="standing">
        {[form.dirty && "dirty", form.saved && "saved", name.error, form.error].filter(Boolean).join(" ")}
      </p>
    </>
  );
}

const type = (text: string): void => {
  fireEvent.change(screen.getByLabelText("name"), { target: { value: text } });
};
const shown = (): string => (screen.getByLabelText("name") as HTMLInputElement).value;
const standing = (): string => screen.getByTestId("standing").textContent ?? "";

beforeEach(() => localStorage.clear());
afterEach(cleanup);

describe("a form of the settings", () => {
  it("sends only what was changed, and is clean afterwards", async () => {
    const send = vi.fn<Send>(async () => {});
    render(<Screen send={send} />);
    expect(unsaved.any()).toBe(false);
    type("new");
    expect(standing()).toBe("dirty");
    await act(() => unsaved.saveAll());
    expect(send).toHaveBeenCalledWith({ name: "new" });
    expect([standing(), shown(), unsaved.any(), localStorage.length]).toEqual(["saved", "new", false, 0]);
  });

  it("is clean again when a change is taken back", () => {
    render(<Screen send={async () => {}} />);
    type("new");
    type("old");
    expect([standing(), localStorage.length]).toEqual(["", 0]);
  });

  it("keeps what was typed when the page goes away, until it is discarded", () => {
    const { unmount } = render(<Screen send={async () => {}} />);
    type("half a wo");
    unmount();
    render(<Screen send={async () => {}} />);
    expect([shown(), standing()]).toEqual(["half a wo", "dirty"]);
    act(() => unsaved.discardAll());
    expect([shown(), standing(), localStorage.length]).toEqual(["old", "", 0]);
  });

  it("keeps what was typed when the server refuses, with its words at the field", async () => {
    const refuse: Send = async () => {
      throw new Error("name: is taken");
    };
    render(<Screen send={refuse} />);
    type("new");
    await act(() => unsaved.saveAll());
    expect([shown(), standing()]).toEqual(["new", "dirty is taken"]);
  });

  it("keeps what is typed while it saves", async () => {
    let done = (): void => {};
    render(<Screen send={() => new Promise<void>((resolve) => (done = resolve))} />);
    type("new");
    const saving = unsaved.saveAll();
    type("newer");
    await act(async () => {
      done();
      await saving;
    });
    expect([shown(), standing()]).toEqual(["newer", "dirty"]);
  });
});
