// A command to run elsewhere, with a button that copies it.

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./button";
import { toast } from "./toast";

const SHOWN_MS = 1_500;

export function CopyCommand({ command }: { command: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      setCopied(true);
    } catch {
      toast.failed("This browser does not let the page copy; select the command instead.");
    }
  };
  return (
    <span className="inline-flex min-w-0 max-w-full items-center gap-1 rounded-sm bg-sunken pl-2">
      <code className="min-w-0 truncate font-mono text-muted text-xs" title={command}>
        {command}
      </code>
      <IconButton label={copied ? "Copied" : `Copy ${command}`} size="sm" onClick={copy}>
        {copied ? <Check className="size-3.5 text-good" aria-hidden /> : <Copy className="size-3.5" aria-hidden />}
      </IconButton>
    </span>
  );
}
