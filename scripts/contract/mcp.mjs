// The tools of a server's MCP endpoint (streamable HTTP), as any client would ask for them.

const LIMIT_MS = 30_000;
const VERSION = "2025-06-18";

/** An empty list when the server has no such endpoint. */
export async function listTools(base) {
  const url = `${base}/mcp?advanced=true`;
  const hello = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: "check-contract", version: "1" } };
  const opened = await send(url, {}, { id: 1, method: "initialize", params: hello });
  if ([404, 405].includes(opened.status) || !/json|event-stream/.test(opened.type)) return [];
  if (opened.answer?.result === undefined) throw new Error(`${url}: ${opened.status} ${JSON.stringify(opened.answer)}`);
  const headers = { "mcp-protocol-version": opened.answer.result.protocolVersion };
  if (opened.session) headers["mcp-session-id"] = opened.session;
  await send(url, headers, { method: "notifications/initialized" });
  const tools = [];
  for (let cursor, id = 2; id < 100; id++) {
    const { answer } = await send(url, headers, { id, method: "tools/list", params: cursor ? { cursor } : {} });
    tools.push(...answer.result.tools);
    cursor = answer.result.nextCursor;
    if (!cursor) return tools;
  }
  throw new Error(`${url}: tools/list does not end`);
}

async function send(url, headers, message) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const type = response.headers.get("content-type") ?? "";
  const answer = parse(type, await response.text(), message.id);
  return { status: response.status, type, session: response.headers.get("mcp-session-id"), answer };
}

/** JSON, or events of which one is the answer. */
function parse(type, text, id) {
  if (type.includes("event-stream")) {
    const lines = text.split("\n").filter((line) => line.startsWith("data:"));
    return lines.map((line) => JSON.parse(line.slice(5) || "null")).find((message) => message?.id === id);
  }
  return type.includes("json") && text ? JSON.parse(text) : undefined;
}
