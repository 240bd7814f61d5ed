// How many workers there are, which agents they use, and what is done when one is unwell.

import type { ExecutorProfileId, Fallback, PriorityTiers, RecoveryPolicy, TierCaps, WorkerTier } from "@forge/client";
import { Problem } from "../../../ui/state";
import { useConfigForm } from "../form/config";
import { Panel, Row } from "../form/section-panel";
import { ChoiceSetting, LinesSetting, NumberSetting, TextSetting } from "../form/setting-fields";
import { TierAgents } from "./tier-agents";

export const TIERS: readonly { value: WorkerTier; label: string }[] = [
  { value: "premium", label: "Premium" },
  { value: "standard", label: "Standard" },
  { value: "budget", label: "Budget" },
  { value: "free", label: "Free" },
];

const PRIORITIES: readonly (keyof PriorityTiers)[] = ["P0", "P1", "P2", "P3", "P4"];

const FALLBACKS: readonly { value: Fallback; label: string }[] = [
  { value: "both", label: "The next one up, then down" },
  { value: "up", label: "The next one up" },
  { value: "down", label: "The next one down" },
  { value: "none", label: "None: wait" },
];

const POLICIES: readonly { value: RecoveryPolicy; label: string }[] = [
  { value: "disabled", label: "Do nothing" },
  { value: "notify", label: "Notify" },
  { value: "auto", label: "Fix automatically" },
];

export function Fleet() {
  return (
    <>
      <Size />
      <Tiers />
      <Health />
      <Recovery />
    </>
  );
}

function Size() {
  const form = useConfigForm("fleet.size");
  const caps = form.field("fleet.caps");
  const setCap = (tier: keyof TierCaps, cap: number | null): void => caps.onChange({ ...caps.value, [tier]: cap });
  return (
    <Panel title="Size" about="How much may run at once on this machine." form={form}>
      <Row>
        <NumberSetting label="Workers at once" min={1} {...form.field("fleet.max_workers")} />
        <NumberSetting label="Failures before escalating to you" min={1} {...form.field("fleet.max_failures")} />
      </Row>
      <fieldset className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <legend className="mb-1 font-medium text-muted text-xs">Limit per tier</legend>
        {TIERS.map(({ value: tier, label }) => (
          <NumberSetting
            key={tier}
            label={label}
            min={0}
            optional
            placeholder="All"
            value={caps.value[tier]}
            error={null}
            onChange={(cap) => setCap(tier, cap ?? null)}
          />
        ))}
      </fieldset>
      <Problem look="xs">{caps.error}</Problem>
      <Row>
        <NumberSetting
          label="Free memory needed to start"
          unit="MB"
          min={0}
          {...form.field("fleet.min_free_memory_mb")}
        />
        <NumberSetting label="Free disk needed to start" unit="MB" min={0} {...form.field("fleet.min_free_disk_mb")} />
        <NumberSetting
          label="Maximum load per core"
          min={0}
          step="any"
          optional
          placeholder="Any"
          {...form.field("fleet.max_load_per_core")}
        />
        <NumberSetting
          label="Keep files of ended workers"
          unit="days"
          min={0}
          {...form.field("fleet.status_keep_days")}
        />
      </Row>
      <LinesSetting
        label="Workspaces"
        hint="Further folders with beads, one per line."
        {...form.field("fleet.workspaces")}
      />
      <Row>
        <TextSetting
          label="Launchers"
          mono
          placeholder="In Forge's data folder"
          {...form.field("fleet.launcher_dir")}
        />
        <TextSetting
          label="tmux socket"
          mono
          placeholder="Private socket"
          hint="Read when Forge starts."
          {...form.field("fleet.socket")}
        />
      </Row>
    </Panel>
  );
}

function Tiers() {
  const form = useConfigForm("fleet.tiers");
  const tiers = form.field("fleet.priority_tiers");
  const models = form.field("fleet.models");
  const setModels = (tier: WorkerTier, list: ExecutorProfileId[]): void =>
    models.onChange({ ...models.value, [tier]: list });
  return (
    <Panel title="Tiers" about="Which agents do which work, the first that can be used." form={form}>
      {TIERS.map(({ value: tier, label }) => (
        <TierAgents key={tier} label={label} agents={models.value[tier]} onChange={(list) => setModels(tier, list)} />
      ))}
      <Problem look="xs">{models.error ?? tiers.error}</Problem>
      <fieldset className="grid grid-cols-2 gap-3 border-line border-t pt-4 sm:grid-cols-5">
        <legend className="sr-only">Tier per priority</legend>
        {PRIORITIES.map((priority) => (
          <ChoiceSetting
            key={priority}
            label={`Priority ${priority.slice(1)}`}
            options={TIERS}
            value={tiers.value[priority]}
            error={null}
            onChange={(tier) => tiers.onChange({ ...tiers.value, [priority]: tier })}
          />
        ))}
      </fieldset>
      <Row>
        <ChoiceSetting
          label="When no agent of the tier can be used"
          options={FALLBACKS}
          {...form.field("fleet.fallback")}
        />
      </Row>
    </Panel>
  );
}

function Health() {
  const form = useConfigForm("fleet.health");
  return (
    <Panel title="Health" about="When a worker is considered unhealthy." form={form}>
      <Row>
        <NumberSetting label="Check every" unit="s" min={1} {...form.field("fleet.health.check_interval_secs")} />
        <NumberSetting label="Stale after" unit="s" min={1} {...form.field("fleet.health.stale_threshold_secs")} />
        <NumberSetting label="Memory limit" unit="MB" min={1} {...form.field("fleet.health.memory_limit_mb")} />
        <NumberSetting label="Max recovery attempts" min={0} {...form.field("fleet.health.max_recovery_attempts")} />
      </Row>
    </Panel>
  );
}

function Recovery() {
  const form = useConfigForm("fleet.recovery");
  return (
    <Panel title="Recovery" about="What Forge may do about it without asking." form={form}>
      <Row>
        <ChoiceSetting label="A worker died" options={POLICIES} {...form.field("fleet.recovery.dead_worker_policy")} />
        <NumberSetting label="Maximum restarts" min={0} {...form.field("fleet.recovery.max_restart_attempts")} />
        <NumberSetting
          label="Crashes count together within"
          unit="s"
          min={1}
          {...form.field("fleet.recovery.window_secs")}
        />
        <NumberSetting label="Restarts at the same time" min={1} {...form.field("fleet.recovery.at_once")} />
        <NumberSetting
          label="First pause before a restart"
          unit="s"
          min={0}
          hint="Each further one is twice as long."
          {...form.field("fleet.recovery.pause_secs")}
        />
        <NumberSetting label="Longest pause" unit="s" min={0} {...form.field("fleet.recovery.max_pause_secs")} />
      </Row>
      <Row>
        <ChoiceSetting
          label="A worker uses too much memory"
          options={POLICIES}
          {...form.field("fleet.recovery.memory_policy")}
        />
        <NumberSetting
          label="Too much is more than"
          unit="MB"
          min={1}
          optional
          placeholder="Never"
          {...form.field("fleet.recovery.memory_kill_mb")}
        />
        <ChoiceSetting
          label="A worker is stuck"
          options={POLICIES}
          {...form.field("fleet.recovery.stuck_task_policy")}
        />
        <NumberSetting label="Stuck after" unit="min" min={1} {...form.field("fleet.recovery.stuck_after_mins")} />
        <ChoiceSetting
          label="Bead assigned to the wrong worker"
          options={POLICIES}
          {...form.field("fleet.recovery.stale_assignee_policy")}
        />
        <NumberSetting label="After" unit="min" min={1} {...form.field("fleet.recovery.stale_assignee_mins")} />
      </Row>
    </Panel>
  );
}
