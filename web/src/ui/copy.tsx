// Text that is taken elsewhere: copied by a call, by a button, or by the button beside a command.

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./button";
import { messageOf } from "./state";
import { toast } from "./toast";

const SHOWN_MS = 1_500;

/** Returns whether it went well; a failure has been shown. */
export async function copyText(text: string, done?: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    if (done) toast.done(done);
    return true;
  } catch (error) {
    toast.failed(`It could not be copied: ${messageOf(error)}`);
    return false;
  }
}

export function CopyButton({ text, label = "Copy", className }: { text: string; label?: string; className?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      label={copied ? "Copied" : label}
      size="sm"
      className={className}
      onClick={async () => setCopied(await copyText(text))}
    >
      {copied ? <Check className="size-3.5 text-good" aria-hidden /> : <Copy className="size-3.5" aria-hidden />}
    </IconButton>
  );
}

export function CopyCommand({ command }: { command: string }) {
  return (
    <span className="inline-flex min-w-0 max-w-full items-center gap-1 rounded-sm bg-sunken pl-2">
      <code className="min-w-0 truncate font-mono text-muted text-xs" title={command}>
        {command}
      </code>
      <CopyButton text={command} label={`Copy ${command}`} />
    </span>
  );
}
