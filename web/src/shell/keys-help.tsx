import { Dialog } from "../ui/dialog";
import { Kbd } from "../ui/kbd";
import { useCommandList } from "./commands";

/** Every key that does something here, by group. */
export function KeysHelp({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const withKeys = useCommandList().filter((command) => command.keys);
  const groups = Map.groupBy(withKeys, (command) => command.group);
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts" about="Shortcuts on this screen">
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
        {[...groups].map(([group, commands]) => (
          <section key={group}>
            <h3 className="mb-1 font-medium text-faint text-xs">{group}</h3>
            <ul>
              {commands.map(({ id, label, keys }) => (
                <li key={id} className="flex items-center justify-between gap-4 py-1 text-sm">
                  {label}
                  <Kbd keys={keys} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
