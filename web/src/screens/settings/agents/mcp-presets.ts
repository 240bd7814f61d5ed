// The MCP servers that Forge knows how to add.

import { isTree } from "../form/json-text";

export interface Preset {
  id: string;
  name: string;
  about: string;
  server: unknown;
}

const word = (tree: unknown, key: string): string | undefined => {
  const value = isTree(tree) ? tree[key] : undefined;
  return typeof value === "string" ? value : undefined;
};

/** `{name: server, …, meta: {name: {name, description}}}`: what can be added to this agent, with its words. */
export function presetsOf(preconfigured: unknown): Preset[] {
  if (!isTree(preconfigured)) return [];
  const { meta, ...servers } = preconfigured;
  return Object.entries(servers).map(([id, server]) => {
    const words = isTree(meta) ? meta[id] : undefined;
    return { id, name: word(words, "name") ?? id, about: word(words, "description") ?? "", server };
  });
}
