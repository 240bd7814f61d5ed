// Search and filters of the board. What is chosen is in the address; what is being typed is here until the hand rests.

import { ListFilter, Search, X } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import { agentLabel } from "../../parts/agents";
import { COLUMNS } from "../../parts/status";
import type { BoardSearch } from "../../routes";
import { Button } from "../../ui/button";
import { cx } from "../../ui/class";
import { inputClass } from "../../ui/field";
import { ariaKeys } from "../../ui/kbd";
import { Menu, MenuCheck, MenuLabel } from "../../ui/menu";
import { BOARD } from "./actions";
import { choices, type Facet, type Facets, isFiltered, withChoice } from "./filter";

interface Props {
  search: BoardSearch;
  facets: Facets;
  /** One menu for all, where there is no room for three. */
  compact: boolean;
  input: RefObject<HTMLInputElement | null>;
  onChange: (change: Partial<BoardSearch>) => void;
}

interface Choice {
  facet: Facet;
  title: string;
  options: readonly { value: string; label: string }[];
}

export function Filters({ search, facets, compact, input, onChange }: Props) {
  const given: Choice[] = [
    {
      facet: "status",
      title: "Status",
      options: COLUMNS.map(({ status, title }) => ({ value: status, label: title })),
    },
    {
      facet: "agent",
      title: "Agent",
      options: facets.agents.map((agent) => ({ value: agent, label: agentLabel(agent) })),
    },
    { facet: "label", title: "Label", options: facets.labels.map((label) => ({ value: label, label })) },
  ];
  const offered = given.filter(({ facet, options }) => options.length > 0 || search[facet]);
  const checks = ({ facet, options }: Choice) => {
    const chosen = choices(search[facet]);
    // What the address asks for can be taken back even if no task has it any more.
    const known = new Set(options.map(({ value }) => value));
    const lost = [...chosen].filter((value) => !known.has(value)).map((value) => ({ value, label: value }));
    return [...options, ...lost].map(({ value, label }) => (
      <MenuCheck
        key={value}
        checked={chosen.has(value)}
        onChange={(checked) => onChange({ [facet]: withChoice(search[facet], value, checked) })}
      >
        {label}
      </MenuCheck>
    ));
  };
  const all = offered.reduce((sum, { facet }) => sum + choices(search[facet]).size, 0);
  return (
    <>
      <SearchBox value={search.q ?? ""} input={input} onChange={(q) => onChange({ q: q || undefined })} />
      {compact ? (
        <Menu trigger={trigger("Filter", all, { icon: true })}>
          {offered.map((choice) => (
            <div key={choice.facet}>
              <MenuLabel>{choice.title}</MenuLabel>
              {checks(choice)}
            </div>
          ))}
        </Menu>
      ) : (
        // All of them from the beginning: one that came with the tasks would push the others aside.
        given.map((choice) => {
          const chosen = choices(search[choice.facet]).size;
          const isEmpty = !offered.includes(choice);
          return (
            <Menu key={choice.facet} trigger={trigger(choice.title, chosen, { isEmpty })} align="start">
              {checks(choice)}
            </Menu>
          );
        })
      )}
      {isFiltered(search) && (
        <Button
          weight="ghost"
          icon={<X className="size-4" aria-hidden />}
          onClick={() => onChange({ q: undefined, agent: undefined, label: undefined, status: undefined })}
        >
          Clear
        </Button>
      )}
    </>
  );
}

function trigger(title: string, chosen: number, { icon = false, isEmpty = false }) {
  return (
    <Button
      weight={chosen > 0 ? "plain" : "ghost"}
      disabled={isEmpty}
      icon={icon && <ListFilter className="size-4" aria-hidden />}
    >
      {title}
      {chosen > 0 && <span className="rounded-full bg-accent-soft px-1.5 text-accent text-xs tabular">{chosen}</span>}
    </Button>
  );
}

const REST_MS = 120;

function SearchBox({
  value,
  input,
  onChange,
}: {
  value: string;
  input: RefObject<HTMLInputElement | null>;
  onChange: (q: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The address may change by itself: back, a link, "Clear".
  useEffect(() => {
    if (value !== sent.current) setTyped(value);
    sent.current = value;
  }, [value]);
  const change = (next: string): void => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = next.trim();
      onChange(next.trim());
    }, REST_MS);
  };
  return (
    <div className="relative min-w-0 flex-1 md:w-52 md:flex-none">
      <Search
        className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint"
        aria-hidden
      />
      <input
        ref={input}
        type="search"
        aria-label={BOARD.search.label}
        aria-keyshortcuts={ariaKeys(BOARD.search.keys)}
        placeholder={BOARD.search.label}
        value={typed}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          if (typed) change("");
          else event.currentTarget.blur();
        }}
        className={cx(inputClass, "pl-8 [&::-webkit-search-cancel-button]:hidden")}
      />
    </div>
  );
}
