export function RawView(_: Record<string, unknown>) {
  return null;
}
