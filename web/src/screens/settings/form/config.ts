// The settings that Forge keeps for everybody, and how a part of them is changed.

import type { Config } from "@forge/client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { forge } from "../../../api/forge";
import { infoQuery } from "../../../api/queries/settings";
import { type Form, useForm } from "./settings-form";

export const useConfig = (): Config => useSuspenseQuery(infoQuery()).data.config;

/** Sends a partial change; what is not named stays. */
export function useConfigChange(): (change: Record<string, unknown>) => Promise<Config> {
  const queries = useQueryClient();
  return async (change) => {
    const config = await forge.updateConfig(change);
    queries.setQueryData(infoQuery().queryKey, (info) => info && { ...info, config });
    return config;
  };
}

export function useConfigForm(name: string): Form<Config> {
  return useForm({ name, stored: useConfig(), send: useConfigChange() });
}
