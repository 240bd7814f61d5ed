// Ports that are free, the same ones each time as long as nobody takes them.

import net from "node:net";

const TRIED = 100;

function isFree(port) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** The first free port from `first` on. */
export async function findPort(first) {
  for (let port = first; port < first + TRIED; port += 1) if (await isFree(port)) return port;
  throw new Error(`no port from ${first} to ${first + TRIED - 1} is free; set BACKEND_PORT to one that is`);
}
