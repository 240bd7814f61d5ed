/** `NAME=value` on each line; blank lines and those after # are left out. Nothing at all is no variables. */
export function readVariables(text: string): Record<string, string> | undefined {
  const pairs = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const at = line.indexOf("=");
      return at < 0 ? ([line, ""] as const) : ([line.slice(0, at).trim(), line.slice(at + 1).trim()] as const);
    });
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}
