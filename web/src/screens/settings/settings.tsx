// The settings: a list of sections, one of them open. Leaving a section with unsaved changes asks first.

import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { CatchBoundary, Link, useBlocker, useNavigate, useParams } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense } from "react";
import { bind } from "../../shell/action";
import { useCommands } from "../../shell/commands";
import { Page } from "../../shell/page";
import { Button } from "../../ui/button";
import { cx } from "../../ui/class";
import { Dialog } from "../../ui/dialog";
import { Select } from "../../ui/field";
import { Empty, Failure } from "../../ui/state";
import { About } from "./about";
import { SETTINGS } from "./actions";
import { Appearance } from "./appearance";
import { Budget } from "./budget-settings";
import { Editor } from "./editor-settings";
import { valueAt } from "./form/form-value";
import { Skeleton } from "./form/section-skeleton";
import { unsaved } from "./form/settings-form";
import { Github } from "./github";
import { Notifications } from "./notifications/notifications";
import { Projects } from "./projects/project-settings";
import { Snippets } from "./projects/snippets";
import { SECTIONS, type SectionId } from "./sections";

const BODY: Record<SectionId, ComponentType> = {
  agents: lazy(async () => ({ default: (await import("./agents/agent-settings")).Agents })),
  fleet: lazy(async () => ({ default: (await import("./fleet/fleet-settings")).Fleet })),
  projects: Projects,
  notifications: Notifications,
  editor: Editor,
  github: Github,
  budget: Budget,
  snippets: Snippets,
  appearance: Appearance,
  about: About,
};

export function Settings() {
  const { section: id } = useParams({ from: "/settings/$section" });
  const navigate = useNavigate();
  const section = SECTIONS.find((section) => section.id === id);
  const open = (section: SectionId): void => void navigate({ to: "/settings/$section", params: { section } });
  useCommands([
    bind(SETTINGS.save, () => unsaved.saveAll()),
    ...SECTIONS.map(({ id, title, about }) => ({
      id: `settings-${id}`,
      label: `Open ${title.toLowerCase()}`,
      ...{ group: SETTINGS.save.group, place: SETTINGS.save.place },
      words: about,
      run: () => open(id),
    })),
  ]);
  return (
    <Page title="Settings">
      <div className="mx-auto flex max-w-5xl flex-col gap-4 p-4 md:flex-row md:gap-8 md:p-6">
        <div className="md:hidden">
          <Select
            label="Section"
            value={section?.id ?? ""}
            options={SECTIONS.map(({ id, title }) => ({ value: id, label: title }))}
            onChange={(event) => {
              const chosen = SECTIONS.find(({ id }) => id === event.target.value);
              if (chosen) open(chosen.id);
            }}
          />
        </div>
        <SideList current={section?.id} />
        <div className="min-w-0 max-w-2xl flex-1 pb-16">
          {section ? <Body key={section.id} {...section} /> : <Empty title="Section not found" />}
        </div>
      </div>
      <Leaving />
    </Page>
  );
}

function SideList({ current }: { current: SectionId | undefined }) {
  return (
    <nav aria-label="Settings" className="sticky top-6 hidden w-44 shrink-0 self-start md:block">
      <ul className="flex flex-col gap-0.5">
        {SECTIONS.map(({ id, title, icon: Icon }) => (
          <li key={id}>
            <Link
              to="/settings/$section"
              params={{ section: id }}
              aria-current={id === current ? "page" : undefined}
              className={cx(
                "flex h-8 items-center gap-2.5 rounded-md px-2 text-sm transition-colors",
                id === current ? "bg-press font-medium text-ink" : "text-muted hover:bg-hover hover:text-ink",
              )}
            >
              <Icon className="size-4 text-faint" aria-hidden />
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Body({ id, title, about }: (typeof SECTIONS)[number]) {
  const Section = BODY[id];
  const { reset: askAgain } = useQueryErrorResetBoundary();
  return (
    <>
      <header className="mb-4">
        <h2 className="font-semibold text-lg">{title}</h2>
        <p className="text-muted text-sm">{about}</p>
      </header>
      <div className="flex flex-col gap-6">
        <CatchBoundary
          getResetKey={() => id}
          errorComponent={({ error, reset }) => (
            <Failure
              error={error}
              onRetry={() => {
                askAgain();
                reset();
              }}
            />
          )}
        >
          <Suspense fallback={<Skeleton />}>
            <Section />
          </Suspense>
        </CatchBoundary>
      </div>
    </>
  );
}

/** The question before unsaved changes are left behind. */
function Leaving() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      const stays =
        current.pathname === next.pathname && valueAt(current.search, "project") === valueAt(next.search, "project");
      return !stays && unsaved.any();
    },
    // What was typed is kept in the browser: closing the page loses nothing.
    enableBeforeUnload: false,
    withResolver: true,
  });
  const saveAndGo = async (): Promise<void> => {
    if (await unsaved.saveAll()) proceed?.();
    else reset?.();
  };
  const discardAndGo = (): void => {
    unsaved.discardAll();
    proceed?.();
  };
  const footer = (
    <>
      <Button weight="ghost" className="mr-auto" onClick={() => reset?.()}>
        Stay
      </Button>
      <Button weight="danger" onClick={discardAndGo}>
        Discard
      </Button>
      <Button weight="primary" onClick={() => void saveAndGo()}>
        Save
      </Button>
    </>
  );
  return (
    <Dialog
      open={status === "blocked"}
      onOpenChange={(open) => open || reset?.()}
      title="Save the changes?"
      width="sm"
      footer={footer}
    >
      <p className="text-muted text-sm">This section has changes that are not saved yet.</p>
    </Dialog>
  );
}
