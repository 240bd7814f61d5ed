// Access to GitHub, and the defaults of branches and pull requests. Tokens are set here, never shown.

import { DeviceLogin } from "./device-login";
import { useConfig, useConfigChange, useConfigForm } from "./form/config";
import { Secret } from "./form/secret";
import { Panel, Row } from "./form/section-panel";
import { TextSetting, WordSetting } from "./form/setting-fields";

export function Github() {
  const { github } = useConfig();
  const change = useConfigChange();
  const form = useConfigForm("github");
  return (
    <>
      <Panel
        title="Access"
        about="Needed to push, to open pull requests and to read issues. A token takes precedence over a login."
      >
        <Secret
          label="Personal access token"
          placeholder="github_pat_…"
          hint="Needs the scopes repo and user:email. It is kept on the machine where Forge runs and never shown again."
          isSet={github.pat !== null}
          save={(pat) => change({ github: { pat } })}
        />
        <DeviceLogin />
      </Panel>
      <Panel title="Defaults" form={form}>
        <Row>
          <TextSetting label="User name" {...form.field("github.username")} />
          <TextSetting label="Email" {...form.field("github.primary_email")} />
        </Row>
        <Row>
          <TextSetting
            label="Default PR base"
            mono
            placeholder="main"
            hint="Where the attempt names no branch."
            {...form.field("github.default_pr_base")}
          />
          <WordSetting
            label="Branch prefix"
            mono
            hint={`New branches are called ${form.field("git_branch_prefix").value || "…"}/1a2b-title.`}
            {...form.field("git_branch_prefix")}
          />
        </Row>
      </Panel>
    </>
  );
}
