// All cards of a project, in one answer.
// Invariant: a card that an event brings while they are on their way is newer than they are.

import type { CardChange, TaskCard } from "@forge/client";
import { forge } from "./forge";

type Cards = Map<string, TaskCard>;

/** What came while the cards of a project are on their way. */
const late = new Map<string, CardChange[]>();

export async function listCards(projectId: string): Promise<Cards> {
  const newer: CardChange[] = [];
  late.set(projectId, newer);
  const cards = new Map((await forge.listTaskCards(projectId)).map((card) => [card.task_id, card]));
  if (late.get(projectId) === newer) late.delete(projectId);
  return newer.reduce(withCard, cards);
}

/** The kept cards with one that changed. */
export function changeCards(cards: Cards | undefined, change: CardChange): Cards | undefined {
  late.get(change.project_id)?.push(change);
  return cards && withCard(new Map(cards), change);
}

function withCard(cards: Cards, { task_id, card }: CardChange): Cards {
  if (card) cards.set(task_id, card);
  else cards.delete(task_id);
  return cards;
}
