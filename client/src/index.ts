export { ForgeClient } from "./client.js";
export type { Given, Options, SocketMaker } from "./connection.js";
export { ForgeError } from "./error.js";
export { ForgeEventSource } from "./event-source.js";
export type { EventOptions, ForgeEvent } from "./events.js";
export type { FollowOptions } from "./follow.js";
export type { Change, EntryChange, RawLogLine, RawLogOptions } from "./streams.js";
export type * from "./types.js";
