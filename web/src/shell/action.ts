// What an action is, apart from what it does: its name, its key, where it is offered. Each screen has its table in
// `actions.ts`; button, menu, palette, keyboard and help draw from the row.
// Invariant: a key is written in such a table and nowhere else, and no two actions of one place have the same.

export interface Action {
  id: string;
  label: string;
  group: string;
  /** `attempt`, or `attempt/review` for a view of it. Actions of a place are offered in its views, too. */
  place: string;
  /** `n`, `mod+k`, or a sequence such as `g b`. */
  keys?: string;
  /** More words to find it by. */
  words?: string;
}

type Row = Pick<Action, "label" | "keys" | "words">;

/** The actions of a place; the shell's place is "", and a screen may take one of its keys. */
export function actionsAt<Name extends string>(
  place: string,
  group: string,
  rows: Record<Name, Row>,
): Record<Name, Action> {
  const named = Object.entries<Row>(rows).map(([name, row]) => [
    name,
    { id: `${place}/${name}`, group, place, ...row },
  ]);
  return Object.fromEntries(named) as Record<Name, Action>;
}

/** An action that can be done now. */
export interface Command extends Action {
  run: () => void;
  /** False where it makes no sense at the moment: its key is dead, and what draws it is grey. */
  enabled?: boolean;
}

export const bind = (action: Action, run: () => void, enabled = true): Command => ({ ...action, run, enabled });

const isWithin = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}/`);

/** Pairs of actions of one place that a key cannot distinguish: the same key, or one that begins the other's sequence. */
export function clashes(actions: readonly Action[]): string[] {
  return actions.flatMap((one, at) =>
    actions.slice(at + 1).flatMap((other) => {
      if (!one.keys || !other.keys) return [];
      const [short, long] = [one.keys, other.keys].toSorted((a, b) => a.length - b.length) as [string, string];
      const isSame = short === long || long.startsWith(`${short} `);
      const isTogether = isWithin(one.place, other.place) || isWithin(other.place, one.place);
      return isSame && isTogether ? [`${one.id} and ${other.id}: ${one.keys}`] : [];
    }),
  );
}
