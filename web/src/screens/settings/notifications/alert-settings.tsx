// Alerts of the fleet: which of them leave Forge, and on which ways.

import type { AlertSeverity } from "@forge/client";
import { useConfig, useConfigChange, useConfigForm } from "../form/config";
import { Secret } from "../form/secret";
import { Panel, Row } from "../form/section-panel";
import { ChoiceSetting, LinesSetting, NumberSetting, SwitchSetting } from "../form/setting-fields";

const SEVERITIES: readonly { value: AlertSeverity; label: string }[] = [
  { value: "info", label: "All" },
  { value: "warning", label: "Warnings and critical ones" },
  { value: "critical", label: "Critical ones only" },
];

export function Alerts() {
  const form = useConfigForm("alerts");
  const { webhook } = useConfig().fleet.alerts;
  const change = useConfigChange();
  return (
    <Panel
      title="Alerts"
      about="Crashed workers, budgets, full disks. Choose which ones are also sent elsewhere."
      form={form}
    >
      <Row>
        <ChoiceSetting label="Which" options={SEVERITIES} {...form.field("fleet.alerts.min_severity")} />
        <NumberSetting
          label="Make a warning critical after"
          hint="If nobody has acknowledged it. 0: never."
          unit="min"
          min={0}
          {...form.field("fleet.alerts.escalate_after_mins")}
        />
      </Row>
      <SwitchSetting
        label="Notify on the desktop"
        hint="On the machine running Forge."
        {...form.field("fleet.alerts.desktop")}
      />
      <Secret
        label="Webhook"
        placeholder="https://hooks.example/…"
        hint="Gets every such alert as JSON. The address is treated as a secret and saved at once."
        isSet={webhook !== null}
        save={(address) => change({ fleet: { alerts: { webhook: address } } })}
      />
      <LinesSetting
        label="Command"
        hint="One argument per line; the alert is on its standard input."
        {...form.field("fleet.alerts.command")}
      />
      <SwitchSetting
        label="Ring the terminal's bell for critical alerts"
        hint="In the dashboard, forge tui."
        {...form.field("fleet.alerts.bell_on_critical")}
      />
      <SwitchSetting label="Ring the terminal's bell for warnings" {...form.field("fleet.alerts.bell_on_warning")} />
      <Row>
        <NumberSetting label="Ring at most every" unit="s" min={1} {...form.field("fleet.alerts.bell_interval_secs")} />
      </Row>
    </Panel>
  );
}
