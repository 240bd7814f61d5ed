// The entries of several processes as one thing that React can read.

import type { ExecutionProcess } from "@forge/client";
import { useMemo, useSyncExternalStore } from "react";
import type { Snapshot } from "../../../live/channel";
import { type Entries, entriesChannel } from "../../../live/entries";

export type EntriesById = ReadonlyMap<string, Snapshot<Entries>>;

export function useEntries(processes: readonly ExecutionProcess[]): EntriesById {
  const key = processes.map(({ id }) => id).join(" ");
  const store = useMemo(() => joined(key === "" ? [] : key.split(" ")), [key]);
  return useSyncExternalStore(store.subscribe, store.read);
}

function joined(ids: readonly string[]) {
  const channels = ids.map((id) => [id, entriesChannel(id)] as const);
  let last: EntriesById = new Map();
  return {
    subscribe: (reader: () => void): (() => void) => {
      const ends = channels.map(([, channel]) => channel.subscribe(reader));
      return () => {
        for (const end of ends) end();
      };
    },
    // The same map until one of them has something new.
    read: (): EntriesById => {
      if (last.size !== channels.length || channels.some(([id, channel]) => last.get(id) !== channel.read())) {
        last = new Map(channels.map(([id, channel]) => [id, channel.read()]));
      }
      return last;
    },
  };
}
