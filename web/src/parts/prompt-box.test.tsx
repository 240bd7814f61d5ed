// @vitest-environment happy-dom
import type { Image } from "@forge/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { TooltipRoom } from "../ui/tooltip";
import { PromptBox } from "./prompt-box";

const uploads: { file: File; done: (image: Image) => void; fail: (error: Error) => void }[] = [];
vi.mock("../api/forge", () => ({
  forge: {
    uploadImage: (file: File) => new Promise((done, fail) => uploads.push({ file, done, fail })),
    searchProjectFiles: async () => [],
    request: async () => [],
  },
}));

afterEach(() => {
  cleanup();
  uploads.length = 0;
});

const image = (id: string): Image => ({
  id,
  file_path: `.forge-images/${id}.png`,
  original_name: `${id}.png`,
  mime_type: "image/png",
  size_bytes: 1,
  hash: id,
  created_at: "",
  updated_at: "",
});

function Place({ onSubmit }: { onSubmit: () => void }) {
  const [text, setText] = useState("see");
  const [images, setImages] = useState<readonly Image[]>([]);
  return (
    <PromptBox
      projectId="p"
      label="Prompt"
      value={text}
      onChange={setText}
      images={images}
      onImages={setImages}
      onSubmit={onSubmit}
    />
  );
}

function show(onSubmit: () => void) {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TooltipRoom>
        <Place onSubmit={onSubmit} />
      </TooltipRoom>
    </QueryClientProvider>,
  );
  const area = screen.getByLabelText<HTMLTextAreaElement>("Prompt");
  const choose = (...names: string[]): void => {
    const files = names.map(
      (name) => new File(["x"], name, { type: name.endsWith(".png") ? "image/png" : "text/plain" }),
    );
    fireEvent.change(screen.getByLabelText("Images to attach"), { target: { files } });
  };
  const send = (): void => void fireEvent.keyDown(area, { key: "Enter", ctrlKey: true });
  return { area, choose, send };
}

test("images that arrive together are all kept, in the text too, and go without a trace", async () => {
  const { area, choose } = show(() => {});
  choose("a.png", "b.png");
  await act(async () => {
    for (const [at, upload] of uploads.entries()) upload.done(image(at === 0 ? "a" : "b"));
  });
  expect(screen.getAllByRole("img")).toHaveLength(2);
  expect(area.value).toContain("![a.png](.forge-images/a.png)");
  expect(area.value).toContain("![b.png](.forge-images/b.png)");
  fireEvent.click(screen.getByLabelText("Remove a.png"));
  expect(area.value).not.toContain("a.png");
  expect(area.value).toContain("b.png");
});

test("nothing is sent while an image is on its way", async () => {
  const submit = vi.fn();
  const { choose, send } = show(submit);
  choose("a.png");
  send();
  expect(submit).not.toHaveBeenCalled();
  await act(async () => uploads[0]?.done(image("a")));
  send();
  expect(submit).toHaveBeenCalledTimes(1);
});

test("what is wrong is said file by file, and can be tried again", async () => {
  const { choose } = show(() => {});
  choose("a.png", "notes.txt");
  await act(async () => uploads[0]?.fail(new Error("the server is away")));
  expect(screen.getAllByRole("alert").map(({ textContent }) => textContent)).toEqual([
    "a.png: the server is away",
    "notes.txt: This file is not an image.",
  ]);
  expect(uploads).toHaveLength(1);
  fireEvent.click(screen.getByLabelText("Upload a.png again"));
  await act(async () => uploads[1]?.done(image("a")));
  expect(screen.getByAltText("a.png")).toBeTruthy();
});
