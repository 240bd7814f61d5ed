// Clients that we did not write: one that begins with a handshake, and one of the protocol without it.
import * as newest from "@modelcontextprotocol/client";
import * as newestStdio from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { program } from "./forge.mjs";

const identity = { name: "forge-tests", version: "1.0.0" };
const stdio = (forge) => ({ command: program, args: ["mcp"], env: forge.env, cwd: forge.dir, stderr: "inherit" });

export const protocols = {
  "2025-11-25": {
    client: () => new Client(identity),
    http: (forge) => new StreamableHTTPClientTransport(forge.url()),
    stdio: (forge) => new StdioClientTransport(stdio(forge)),
    // The older client takes a schema before its options.
    call: (client, request, options) => client.callTool(request, undefined, options),
  },
  "2026-07-28": {
    client: () => new newest.Client(identity, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    http: (forge) => new newest.StreamableHTTPClientTransport(forge.url()),
    stdio: (forge) => new newestStdio.StdioClientTransport(stdio(forge)),
    call: (client, request, options) => client.callTool(request, options),
  },
};
