// What cards show beside their task: agent, state, cost, changes, questions. Kept true card by card.

import type { TaskCard } from "@forge/client";
import type { QueryClient } from "@tanstack/react-query";
import { forge } from "../api/forge";
import { keys } from "../api/keys";
import { cardsQuery } from "../api/queries/project";

type Cards = Map<string, TaskCard>;

const waiting = new Map<string, ReturnType<typeof setTimeout>>();
const GATHER_MS = 150;

/** Asks for one card again, if the board of its project is kept at all. */
export function refreshCard(queries: QueryClient, projectId: string, taskId: string): void {
  const { queryKey } = cardsQuery(projectId);
  if (waiting.has(taskId)) return;
  if (queries.getQueryData(queryKey) === undefined) {
    refreshLoading(queries, queryKey);
    return;
  }
  const look = async (): Promise<void> => {
    waiting.delete(taskId);
    const [card] = await forge.listTaskCards(projectId, taskId);
    queries.setQueryData(queryKey, (cards: Cards | undefined) => {
      if (cards === undefined) return undefined;
      const next = new Map(cards);
      if (card) next.set(taskId, card);
      else next.delete(taskId);
      return next;
    });
  };
  const retry = (): void => void queries.invalidateQueries({ queryKey });
  waiting.set(
    taskId,
    setTimeout(() => look().catch(retry), GATHER_MS),
  );
}

/** Asks for all cards again once those that are on their way are here: they may be from before this change. */
function refreshLoading(queries: QueryClient, queryKey: readonly unknown[]): void {
  const key = JSON.stringify(queryKey);
  const isLoading = (): boolean => queries.getQueryState(queryKey)?.fetchStatus === "fetching";
  if (waiting.has(key) || !isLoading()) return;
  const look = (): void => {
    if (queries.getQueryData(queryKey) === undefined && isLoading()) {
      wait();
    } else {
      waiting.delete(key);
      void queries.invalidateQueries({ queryKey });
    }
  };
  const wait = (): void => void waiting.set(key, setTimeout(look, GATHER_MS));
  wait();
}

/** The same for whoever knows only the attempt: it is on a card if it is the newest of its task. */
export function refreshCardOf(queries: QueryClient, attemptId: string): void {
  for (const [key, cards] of queries.getQueriesData<Cards>({ queryKey: keys.cards() })) {
    if (cards === undefined) refreshLoading(queries, key);
    for (const card of cards?.values() ?? []) {
      if (card.attempt_id === attemptId) refreshCard(queries, String(key[1]), card.task_id);
    }
  }
}
