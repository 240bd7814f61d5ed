import "./styles/base.css";
import { ForgeError } from "@forge/client";
import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { followEvents } from "./live/events";
import { router } from "./routes";
import { messageOf } from "./ui/state";
import { toast } from "./ui/toast";
import { TooltipRoom } from "./ui/tooltip";

// Dialogs put a style element into the page; the server's policy lets in only those that carry its nonce.
const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content;
if (nonce) setNonce(nonce);

const queries = new QueryClient({
  // What fails is said where it was asked for; a change that fails is said here unless its mutation says it itself.
  mutationCache: new MutationCache({
    onError: (error, _given, _context, mutation) => {
      if (!mutation.options.onError) toast.failed(messageOf(error));
    },
  }),
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      retry: (failures, error) => !(error instanceof ForgeError && error.isFinal) && failures < 3,
    },
    mutations: { networkMode: "always" },
  },
});

followEvents(queries);

// The font of code, in time for the first log or diff; one that comes late is not used.
void document.fonts.load('1em "Geist Mono Variable"').catch(() => {});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <TooltipRoom>
          <RouterProvider router={router} />
        </TooltipRoom>
      </QueryClientProvider>
    </StrictMode>,
  );
}
