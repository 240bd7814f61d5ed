export function ProcessesView(_: Record<string, unknown>) {
  return null;
}
