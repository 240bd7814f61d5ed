// Options for the next turn: the agent's variant, a fresh conversation, or another agent altogether.

import { useQuery } from "@tanstack/react-query";
import { Bot, Check, ChevronsUpDown, Replace } from "lucide-react";
import { infoQuery } from "../../../api/queries/settings";
import { agentLabel, variantName } from "../../../parts/agents";
import { Menu, MenuCheck, MenuItem, MenuLabel, MenuLine } from "../../../ui/menu";

interface Props {
  executor: string;
  variant: string | null;
  onVariant: (variant: string | null) => void;
  isFresh: boolean;
  onFresh: (isFresh: boolean) => void;
  onSwitchAgent: () => void;
}

/** What the server calls the variant that is used when none is named. */
const DEFAULT = "GENIE";

export function TurnOptions({ executor, variant, onVariant, isFresh, onFresh, onSwitchAgent }: Props) {
  const { data: info } = useQuery(infoQuery());
  const known = info?.executors[executor];
  const variants = typeof known === "object" && known !== null ? Object.keys(known) : [];
  const current = variant ?? DEFAULT;
  const trigger = (
    <button
      type="button"
      className="flex h-7 min-w-0 items-center gap-2 rounded-md px-2 text-muted text-sm hover:bg-hover hover:text-ink pointer-coarse:min-h-11"
    >
      <Bot className="size-4 shrink-0" aria-hidden />
      <span className="truncate">
        <span className="sr-only">Options for the next turn: </span>
        {[agentLabel({ executor, variant: current }), isFresh ? "fresh" : undefined].filter(Boolean).join(" · ")}
      </span>
      <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden />
    </button>
  );
  return (
    <Menu trigger={trigger} align="start">
      <MenuLabel>Variant</MenuLabel>
      {variants
        .toSorted((a, b) => Number(b === DEFAULT) - Number(a === DEFAULT))
        .map((name) => (
          <MenuItem
            key={name}
            icon={name === current ? <Check aria-label="Chosen" /> : <span className="block size-4" />}
            onSelect={() => onVariant(name === DEFAULT ? null : name)}
          >
            {variantName(name)}
          </MenuItem>
        ))}
      <MenuLine />
      <MenuCheck checked={isFresh} onChange={onFresh}>
        Start a new conversation
      </MenuCheck>
      <MenuItem icon={<Replace aria-hidden />} onSelect={onSwitchAgent}>
        Switch agent…
      </MenuItem>
    </Menu>
  );
}
