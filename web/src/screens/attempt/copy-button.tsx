import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../../ui/button";
import { messageOf } from "../../ui/state";
import { toast } from "../../ui/toast";

export async function copyText(text: string, done?: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    if (done) toast.done(done);
  } catch (error) {
    toast.failed(`It could not be copied: ${messageOf(error)}`);
  }
}

export function CopyButton({ text, label = "Copy", className }: { text: string; label?: string; className?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const Icon = copied ? Check : Copy;
  return (
    <IconButton label={copied ? "Copied" : label} size="sm" className={className} onClick={copy}>
      <Icon className="size-3.5" aria-hidden />
    </IconButton>
  );
}
