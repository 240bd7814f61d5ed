// The editor that opens worktrees and files, on the machine of Forge or over SSH.

import { useConfigForm } from "./form/config";
import { AreaHint } from "./form/hint";
import { Panel, Row } from "./form/section-panel";
import { ChoiceSetting, TextSetting } from "./form/setting-fields";

const EDITORS = [
  { value: "VS_CODE", label: "VS Code" },
  { value: "CURSOR", label: "Cursor" },
  { value: "WINDSURF", label: "Windsurf" },
  { value: "INTELLI_J", label: "IntelliJ IDEA" },
  { value: "ZED", label: "Zed" },
  { value: "XCODE", label: "Xcode" },
  { value: "CUSTOM", label: "A command of your own" },
];

/** These open folders of another machine by an address. */
const OVER_SSH = new Set(["VS_CODE", "CURSOR", "WINDSURF"]);

export function Editor() {
  const form = useConfigForm("editor");
  const type = form.field("editor.editor_type");
  return (
    <Panel title="Opening files" form={form}>
      <ChoiceSetting label="Editor" options={EDITORS} {...type} />
      {type.value === "CUSTOM" && (
        <TextSetting
          label="Command"
          mono
          placeholder="subl --new-window"
          hint="Run on the machine where Forge runs, with the path as its last argument."
          {...form.field("editor.custom_command")}
        />
      )}
      {OVER_SSH.has(type.value) && (
        <>
          <AreaHint title="Forge runs on another machine">
            The host as in your SSH configuration. The editor on this machine opens the folder over SSH.
          </AreaHint>
          <Row>
            <TextSetting label="SSH host" mono placeholder="devbox.example" {...form.field("editor.remote_ssh_host")} />
            <TextSetting label="SSH user" mono {...form.field("editor.remote_ssh_user")} />
          </Row>
        </>
      )}
    </Panel>
  );
}
