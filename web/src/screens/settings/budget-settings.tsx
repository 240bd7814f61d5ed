// What agents may cost, and what happens at the limit.

import { useConfigForm } from "./form/config";
import { Panel, Row } from "./form/section-panel";
import { NumberSetting, SwitchSetting } from "./form/setting-fields";

export function Budget() {
  const form = useConfigForm("budget");
  const limit = { unit: "USD", min: 0.01, step: "any", optional: true, placeholder: "No limit" } as const;
  const percent = { unit: "%", min: 1, max: 100, step: 1 } as const;
  return (
    <Panel
      title="Limits"
      about="What all agents together may cost. Days and months are in UTC. Projects can have their own limits."
      form={form}
    >
      <Row>
        <NumberSetting label="Per day" {...limit} {...form.field("max_cost_usd_per_day")} />
        <NumberSetting label="Per month" {...limit} {...form.field("max_cost_usd_per_month")} />
      </Row>
      <Row>
        <NumberSetting
          label="Warn from"
          hint="Warn at this share of the limit."
          {...percent}
          {...form.field("budget_warning_percent")}
        />
        <NumberSetting
          label="Urgent from"
          hint="From here on the alert is critical."
          {...percent}
          {...form.field("budget_critical_percent")}
        />
      </Row>
      <SwitchSetting label="Do not start workers while a limit is reached" {...form.field("fleet.stop_at_budget")} />
      <SwitchSetting
        label="Resume automatically"
        hint="Resumes when the provider's rate limit resets."
        {...form.field("auto_resume")}
      />
    </Panel>
  );
}
