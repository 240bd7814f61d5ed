// Sound and browser notifications. The switch is everybody's; the permission is this browser's.

import type { SoundFile } from "@forge/client";
import { useMutation } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useState } from "react";
import { Badge } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { messageOf } from "../../../ui/state";
import { toast } from "../../../ui/toast";
import { useConfigForm } from "../form/config";
import { Panel } from "../form/section-panel";
import { ChoiceSetting, SwitchSetting } from "../form/setting-fields";

const SOUNDS: readonly { value: SoundFile; label: string }[] = [
  { value: "GENIE_NOTIFY1", label: "Chime" },
  { value: "GENIE_NOTIFY2", label: "Chime 2" },
  { value: "ABSTRACT_SOUND1", label: "Abstract 1" },
  { value: "ABSTRACT_SOUND2", label: "Abstract 2" },
  { value: "ABSTRACT_SOUND3", label: "Abstract 3" },
  { value: "ABSTRACT_SOUND4", label: "Abstract 4" },
  { value: "PHONE_VIBRATION", label: "Vibration" },
];

export function Attention() {
  const form = useConfigForm("notifications");
  const sound = form.field("notifications.sound_file");
  return (
    <Panel title="Attention" about="When an agent is done or waits for an answer." form={form}>
      <SwitchSetting label="Play a sound" {...form.field("notifications.sound_enabled")} />
      <div className="flex items-end gap-2">
        <div className="w-56">
          <ChoiceSetting label="Sound" options={SOUNDS} {...sound} />
        </div>
        <PlayButton sound={sound.value} />
      </div>
      <div className="border-line border-t pt-4">
        <SwitchSetting
          label="Browser notifications"
          hint="Only when this tab is in the background."
          {...form.field("notifications.push_enabled")}
        />
      </div>
      <Permission />
    </Panel>
  );
}

function PlayButton({ sound }: { sound: SoundFile }) {
  const play = useMutation({
    mutationFn: async () => {
      // From its own address: the page's policy lets no other sound in.
      const audio = new Audio(`/api/sounds/${sound}`);
      await audio.play();
      await new Promise((done) => audio.addEventListener("ended", done, { once: true }));
    },
    onError: (error) => toast.failed(`The sound cannot be played: ${messageOf(error)}`),
  });
  return (
    <Button busy={play.isPending} icon={<Play className="size-4" aria-hidden />} onClick={() => play.mutate()}>
      Play
    </Button>
  );
}

const PERMISSION = {
  granted: { tone: "good", word: "Allowed", about: "This browser shows them." },
  denied: {
    tone: "bad",
    word: "Blocked",
    about: "This browser blocks them for this page. Allow them in its settings for the site.",
  },
  default: { tone: "warn", word: "Not asked", about: "This browser has not been asked yet." },
} as const;

function Permission() {
  const [permission, setPermission] = useState(() =>
    typeof Notification === "undefined" ? null : Notification.permission,
  );
  if (permission === null) return <p className="text-faint text-xs">This browser has no notifications.</p>;
  const { tone, word, about } = PERMISSION[permission];
  const show = (): void => {
    new Notification("Forge", { body: "This is how a notification looks.", icon: "/favicon.svg" });
  };
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm">
      <Badge tone={tone}>{word}</Badge>
      <span className="min-w-0 text-muted">{about}</span>
      {permission === "default" && (
        <Button size="sm" onClick={async () => setPermission(await Notification.requestPermission())}>
          Allow
        </Button>
      )}
      {permission === "granted" && (
        <Button size="sm" onClick={show}>
          Show one
        </Button>
      )}
    </div>
  );
}
