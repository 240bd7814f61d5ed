// @vitest-environment happy-dom

import type { CardChange, TaskCard } from "@forge/client";
import { QueryClient } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { changeCards } from "./cards";
import { forge } from "./forge";
import { cardsQuery } from "./queries/project";

const card = (task_id: string, status: string): TaskCard => ({ task_id, status }) as unknown as TaskCard;
const change = (task_id: string, now: TaskCard | null): CardChange => ({
  project_id: "p",
  task_id,
  card: now,
  attempts: [],
});

const note = (queries: QueryClient, given: CardChange): void => {
  queries.setQueryData(cardsQuery("p").queryKey, (cards) => changeCards(cards, given));
};

it("a card that comes while all cards are on their way is newer than they are", async () => {
  const queries = new QueryClient();
  let arrive: (cards: TaskCard[]) => void = () => {};
  vi.spyOn(forge, "listTaskCards").mockReturnValue(new Promise((resolve) => (arrive = resolve)));
  const loading = queries.fetchQuery(cardsQuery("p"));
  note(queries, change("a", card("a", "completed")));
  note(queries, change("b", null));
  arrive([card("a", "running"), card("b", "running"), card("c", "running")]);
  const cards = await loading;
  expect([...cards.values()].map(({ task_id, status }) => `${task_id} ${status}`)).toEqual([
    "a completed",
    "c running",
  ]);
});

it("a card is put in its place, and a board that nobody has is not begun", () => {
  const queries = new QueryClient();
  note(queries, change("a", card("a", "running")));
  expect(queries.getQueryData(cardsQuery("p").queryKey)).toBeUndefined();
  queries.setQueryData(cardsQuery("p").queryKey, new Map([["b", card("b", "running")]]));
  note(queries, change("a", card("a", "running")));
  note(queries, change("b", null));
  expect([...(queries.getQueryData(cardsQuery("p").queryKey)?.keys() ?? [])]).toEqual(["a"]);
});
