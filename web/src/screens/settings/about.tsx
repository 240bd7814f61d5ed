// What this Forge is and where it keeps things, with the import of other systems and the keys.

import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { BookOpen, ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { healthQuery, infoQuery, profilesQuery, worktreesQuery } from "../../api/queries/settings";
import { useCommandList } from "../../shell/commands";
import { buttonClass } from "../../ui/button";
import { Kbd } from "../../ui/kbd";
import { Panel } from "./form/section-panel";
import { Import } from "./import";

export function About() {
  const { data: info } = useSuspenseQuery(infoQuery());
  const { data: health } = useQuery(healthQuery());
  const { data: profiles } = useQuery(profilesQuery());
  const { data: worktrees } = useQuery(worktreesQuery());
  const { os_type, os_version, os_architecture } = info.environment;
  return (
    <>
      <Panel
        title="This Forge"
        actions={
          <a href="/docs" target="_blank" rel="noreferrer" className={buttonClass("plain", "sm")}>
            <BookOpen className="size-4" aria-hidden /> API documentation
            <ExternalLink className="size-3.5 text-faint" aria-hidden />
          </a>
        }
      >
        <dl className="grid grid-cols-[5.5rem_1fr] gap-x-4 gap-y-2 text-sm sm:grid-cols-[9rem_1fr]">
          <Fact name="Version">{health?.version ?? "…"}</Fact>
          <Fact name="State">{health?.message ?? "…"}</Fact>
          <Fact name="System">
            {os_type} {os_version}, {os_architecture}
          </Fact>
          <Fact name="Data" mono>
            {profiles?.path.replace(/[\\/]profiles\.json$/, "") ?? "…"}
          </Fact>
          <Fact name="Worktrees" mono>
            {worktrees?.base ?? "…"}
          </Fact>
          <Fact name="Licence">Apache 2.0</Fact>
        </dl>
      </Panel>
      <Import />
      <Keys />
    </>
  );
}

function Fact({ name, mono, children }: { name: string; mono?: boolean; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-faint">{name}</dt>
      <dd className={mono ? "break-all font-mono text-xs leading-5" : "tabular"}>{children}</dd>
    </div>
  );
}

function Keys() {
  const commands = useCommandList().filter(({ keys }) => keys);
  return (
    <Panel title="Keyboard" about="Press ? on any screen for the keys that work there.">
      <ul className="grid gap-x-8 sm:grid-cols-2">
        {commands.map(({ id, label, keys }) => (
          <li key={id} className="flex min-h-8 items-center justify-between gap-4 text-sm">
            {label}
            <Kbd keys={keys} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
