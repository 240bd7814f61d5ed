// How the page looks in this browser. There is nothing to save: a choice counts at once.

import { RadioGroup } from "radix-ui";
import { setTheme, type Theme, useTheme } from "../../shell/theme";
import { cx } from "../../ui/class";
import { Panel } from "./form/section-panel";

const THEMES: readonly { value: Theme; label: string; schemes: readonly ("light" | "dark")[] }[] = [
  { value: "system", label: "Match system", schemes: ["light", "dark"] },
  { value: "light", label: "Light", schemes: ["light"] },
  { value: "dark", label: "Dark", schemes: ["dark"] },
];

export function Appearance() {
  const theme = useTheme();
  return (
    <Panel title="Theme" about="Saved in this browser.">
      <RadioGroup.Root
        aria-label="Theme"
        value={theme}
        onValueChange={(value) => {
          const chosen = THEMES.find((each) => each.value === value);
          if (chosen) setTheme(chosen.value);
        }}
        className="grid gap-3 sm:grid-cols-3"
      >
        {THEMES.map(({ value, label, schemes }) => (
          <RadioGroup.Item
            key={value}
            value={value}
            className="group flex flex-col gap-2 rounded-lg border border-line p-2 text-left text-sm transition-colors hover:border-line-strong data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
          >
            <span aria-hidden className="flex h-24 w-full overflow-hidden rounded-md border border-line">
              {schemes.map((scheme) => (
                <Preview key={scheme} scheme={scheme} />
              ))}
            </span>
            <span className="flex items-center gap-2 px-1 pb-0.5">
              <span
                aria-hidden
                className="grid size-4 place-items-center rounded-full border border-line-strong group-data-[state=checked]:border-accent"
              >
                <span className="size-2 rounded-full bg-accent opacity-0 group-data-[state=checked]:opacity-100" />
              </span>
              {label}
            </span>
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </Panel>
  );
}

/** A board in small, in the colours of one scheme. */
function Preview({ scheme }: { scheme: "light" | "dark" }) {
  return (
    <span className={cx("flex flex-1 gap-1.5 bg-canvas p-2", scheme === "light" ? "scheme-light" : "scheme-dark")}>
      {[2, 3].map((cards) => (
        <span key={cards} className="flex flex-1 flex-col gap-1.5">
          <span className="h-1.5 w-1/2 rounded-full bg-faint" />
          {Array.from({ length: cards }, (_, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a drawing
            <span key={at} className="flex h-4 items-center rounded-sm border border-line bg-surface px-1">
              <span className={cx("size-1 rounded-full", at === 0 ? "bg-accent" : "bg-line-strong")} />
            </span>
          ))}
        </span>
      ))}
    </span>
  );
}
