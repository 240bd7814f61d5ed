// Omni: messages to a phone when an attempt ends.

import type { OmniConfig, RecipientType } from "@forge/client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { forge } from "../../../api/forge";
import { omniQuery } from "../../../api/queries/settings";
import { Secret } from "../form/secret";
import { Panel, Row } from "../form/section-panel";
import { ChoiceSetting, SwitchSetting, TextSetting } from "../form/setting-fields";
import { useForm } from "../form/settings-form";

const NONE: OmniConfig = {
  enabled: false,
  host: null,
  api_key: null,
  instance: null,
  recipient: null,
  recipient_type: null,
};

const KINDS: { value: RecipientType; label: string }[] = [
  { value: "PhoneNumber", label: "Phone number" },
  { value: "UserId", label: "User id" },
];

export function Omni() {
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(omniQuery());
  const config = data.omni_config ?? NONE;
  const put = async (body: Record<string, unknown>): Promise<void> => {
    const answer = await forge.request("PUT /api/forge/config", { body });
    queries.setQueryData(omniQuery().queryKey, answer);
  };
  const form = useForm({
    name: "omni",
    stored: { omni_enabled: data.omni_enabled, omni_config: config },
    // One switch here, two on the server.
    send: ({ omni_enabled, omni_config = {} }) =>
      put({ omni_enabled, omni_config: { ...Object(omni_config), enabled: omni_enabled } }),
  });
  const kind = form.field("omni_config.recipient_type");
  return (
    <Panel title="Omni" about="Sends a message through an Omni gateway when an attempt ends." form={form}>
      <SwitchSetting label="Send messages" {...form.field("omni_enabled")} />
      <Row>
        <TextSetting label="Host" mono placeholder="https://omni.example" {...form.field("omni_config.host")} />
        <TextSetting label="Instance" mono {...form.field("omni_config.instance")} />
        <ChoiceSetting<RecipientType>
          label="Recipient is a"
          options={KINDS}
          {...kind}
          value={kind.value ?? "PhoneNumber"}
        />
        <TextSetting label="Recipient" mono {...form.field("omni_config.recipient")} />
      </Row>
      <Secret label="API key" isSet={config.api_key !== null} save={(api_key) => put({ omni_config: { api_key } })} />
    </Panel>
  );
}
