// The variants of an agent, as a form or as the whole file. Both change one text, which is saved whole.

import type { KnownAgent } from "@forge/client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Tabs } from "radix-ui";
import { useState } from "react";
import { forge } from "../../../api/forge";
import { infoQuery, profilesQuery } from "../../../api/queries/settings";
import { agentName } from "../../../ui/format";
import { JsonEditor } from "../form/json-editor";
import { placeMessage } from "../form/json-text";
import { Panel } from "../form/section-panel";
import { useForm } from "../form/settings-form";
import { readProfiles } from "./profile-text";
import { Variants } from "./variants";

const TAB =
  "h-8 border-b-2 border-transparent px-1 text-muted text-sm hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink";

const NOTHING: KnownAgent = { options: [], built_in_variants: [] };

export function Profiles({ executor }: { executor: string }) {
  const queries = useQueryClient();
  const { data: info } = useSuspenseQuery(infoQuery());
  const { data: file } = useSuspenseQuery(profilesQuery());
  const [tab, setTab] = useState("form");
  const form = useForm({
    name: "profiles",
    stored: { content: file.content },
    send: async ({ content }) => {
      await forge.updateExecutorProfiles(String(content));
      // What is offered elsewhere comes from the same profiles.
      await Promise.all([
        queries.fetchQuery({ ...profilesQuery(), staleTime: 0 }),
        queries.fetchQuery({ ...infoQuery(), staleTime: 0 }),
      ]);
    },
  });
  const { value: text, onChange } = form.field("content");
  const profiles = readProfiles(text);
  return (
    <Panel
      title={`How ${agentName(executor)} is run`}
      about="Variants are presets: model, permissions, extra prompt."
      form={form}
      blocked={profiles === null}
    >
      <Tabs.Root value={tab} onValueChange={setTab}>
        <Tabs.List aria-label="Profiles" className="mb-4 flex gap-4 border-line border-b">
          <Tabs.Trigger value="form" className={TAB}>
            Form
          </Tabs.Trigger>
          <Tabs.Trigger value="json" className={TAB}>
            JSON of all agents
          </Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="form">
          {profiles ? (
            <Variants
              key={executor}
              executor={executor}
              known={info.agents[executor] ?? NOTHING}
              text={text}
              variants={profiles[executor] ?? {}}
              problem={form.error}
              onChange={onChange}
            />
          ) : (
            <p className="text-muted text-sm">The JSON cannot be read. Fix it on the other tab first.</p>
          )}
        </Tabs.Content>
        <Tabs.Content value="json">
          <JsonEditor
            label={file.path}
            value={text}
            rows={24}
            fault={form.error ? placeMessage(form.error, text) : null}
            onChange={onChange}
          />
        </Tabs.Content>
      </Tabs.Root>
    </Panel>
  );
}
