import type { ReactNode } from "react";

/** A heading inside a panel, over the fields that belong together. */
export function AreaHint({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="border-line border-t pt-4">
      <h4 className="font-medium text-sm">{title}</h4>
      {children && <p className="text-muted text-sm">{children}</p>}
    </div>
  );
}
