// Labels of tasks: short words, each once however it is written.

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Takes what was typed, with commas between; what is there already is not taken twice. */
export function addLabels(labels: readonly string[], typed: string): readonly string[] {
  const words = typed.split(",").map((word) => word.trim().replace(/\s+/g, " "));
  const all = [...labels];
  for (const word of words) if (word !== "" && !all.some((label) => same(label, word))) all.push(word);
  return all.length > labels.length ? all : labels;
}

/** Labels that are in use, by name, without those that are there already. */
export function otherLabels(tasks: Iterable<{ labels?: string[] }>, labels: readonly string[]): string[] {
  const known = new Set<string>();
  for (const task of tasks) for (const label of task.labels ?? []) known.add(label);
  return [...known].filter((label) => !labels.some((each) => same(each, label))).sort((a, b) => a.localeCompare(b));
}
