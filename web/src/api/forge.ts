// The server that this page came from. Everything the page knows comes through this client.

import { ForgeClient } from "@forge/client";

export const forge = new ForgeClient(location.origin);
