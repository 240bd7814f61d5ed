// Logging in at GitHub with a code: it is shown here, typed in there, and asked about until GitHub says yes or no.

import type { DeviceStart } from "@forge/client";
import { useQueryClient } from "@tanstack/react-query";
import { ExternalLink, LoaderCircle } from "lucide-react";
import { useEffect, useState } from "react";
import { forge } from "../../api/forge";
import { infoQuery } from "../../api/queries/settings";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { messageOf, Problem } from "../../ui/state";
import { toast } from "../../ui/toast";
import { useConfig, useConfigChange } from "./form/config";

/** What GitHub asks for when one was too quick. */
const SLOWER_S = 5;

export function DeviceLogin() {
  const { github } = useConfig();
  const change = useConfigChange();
  const [login, setLogin] = useState<DeviceStart>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (error) {
      setError(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  const start = () => attempt(async () => setLogin(await forge.authGithubDeviceStart()));
  const logOut = () => attempt(() => change({ github: { oauth_token: null } }));
  return (
    <div className="flex flex-col gap-3 border-line border-t pt-4">
      <div className="flex flex-wrap items-center gap-2">
        <h4 className="font-medium text-sm">Login</h4>
        {github.oauth_token === null ? <Badge>Not logged in</Badge> : <Badge tone="good">Logged in</Badge>}
        {github.oauth_token !== null && github.username && (
          <span className="text-muted text-sm">{github.username}</span>
        )}
        <div className="ml-auto flex gap-2">
          {github.oauth_token === null ? (
            <Button size="sm" busy={busy} disabled={login !== undefined} onClick={() => void start()}>
              Log in with a code
            </Button>
          ) : (
            <Button size="sm" weight="danger" busy={busy} onClick={() => void logOut()}>
              Log out
            </Button>
          )}
        </div>
      </div>
      <Problem>{error}</Problem>
      {login && (
        <Pending
          login={login}
          onEnd={(problem) => {
            setLogin(undefined);
            setError(problem);
          }}
        />
      )}
    </div>
  );
}

function Pending({ login, onEnd }: { login: DeviceStart; onEnd: (problem?: string) => void }) {
  const queries = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: one conversation per login
  useEffect(() => {
    let interval = login.interval;
    let timer: ReturnType<typeof setTimeout>;
    const end = Date.now() + login.expires_in * 1000;
    const ask = async (): Promise<void> => {
      try {
        const answer = await forge.authGithubDevicePoll();
        if (answer === "SUCCESS") {
          await queries.fetchQuery({ ...infoQuery(), staleTime: 0 });
          toast.done("Logged in at GitHub");
          return onEnd();
        }
        if (answer === "SLOW_DOWN") interval += SLOWER_S;
        if (Date.now() > end) return onEnd("The code has expired. Start again.");
        timer = setTimeout(() => void ask(), interval * 1000);
      } catch (error) {
        onEnd(messageOf(error));
      }
    };
    timer = setTimeout(() => void ask(), interval * 1000);
    return () => clearTimeout(timer);
  }, [login]);
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-md border border-line bg-canvas p-3">
      <output className="font-mono font-semibold text-lg tracking-widest" aria-label="Code">
        {login.user_code}
      </output>
      <CopyButton text={login.user_code} label="Copy the code" />
      <a
        href={login.verification_uri}
        target="_blank"
        rel="noreferrer noopener"
        className={buttonClass("primary", "sm")}
      >
        Enter it at GitHub <ExternalLink className="size-3.5" aria-hidden />
      </a>
      <span role="status" className="flex items-center gap-2 text-muted text-sm">
        <LoaderCircle className="size-4 animate-spin" aria-hidden /> Waiting
      </span>
      <Button size="sm" weight="ghost" className="ml-auto" onClick={() => onEnd()}>
        Cancel
      </Button>
    </div>
  );
}
