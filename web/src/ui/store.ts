// One value that the whole page reads, outside of React. Readers are called when it is replaced.

import { useSyncExternalStore } from "react";

export interface Store<T> {
  read: () => T;
  set: (next: T) => void;
  subscribe: (reader: () => void) => () => void;
}

export function makeStore<T>(first: T): Store<T> {
  const readers = new Set<() => void>();
  let value = first;
  return {
    read: () => value,
    set: (next) => {
      value = next;
      for (const reader of readers) reader();
    },
    subscribe: (reader) => {
      readers.add(reader);
      return () => readers.delete(reader);
    },
  };
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.read);
