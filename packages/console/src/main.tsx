import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useCallback, useState } from "react";
import { createRoot } from "react-dom/client";
import { isLoggedIn, logIn, RefusedError } from "./api/session.ts";
import "./look/theme.css";
import { LoggedOut, router } from "./router.tsx";
import { Login } from "./shell/login.tsx";

/** A code in the link's fragment is used once, and is gone from the address before anything else happens. */
async function openByLink(): Promise<string | undefined> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await logIn({ code });
  } catch (error) {
    return (error as Error).message;
  }
}

function Page({ fault }: { readonly fault: string | undefined }) {
  const [isOpen, setOpen] = useState(isLoggedIn);
  const [why, setWhy] = useState(fault);
  const loggedOut = useCallback(() => setOpen(false), []);
  const [cache] = useState(
    () =>
      new QueryClient({
        queryCache: new QueryCache({
          onError: (error) => {
            if (!(error instanceof RefusedError) || error.status !== 401) return;
            setWhy("The session has ended.");
            setOpen(false);
          },
        }),
        defaultOptions: { queries: { retry: false, refetchOnWindowFocus: true } },
      }),
  );
  if (!isOpen)
    return (
      <Login
        fault={why}
        onDone={() => {
          cache.clear();
          setWhy(undefined);
          setOpen(true);
        }}
      />
    );
  return (
    <QueryClientProvider client={cache}>
      <LoggedOut value={loggedOut}>
        <RouterProvider router={router} />
      </LoggedOut>
    </QueryClientProvider>
  );
}

const fault = await openByLink();
createRoot(document.getElementById("page") as HTMLElement).render(
  <StrictMode>
    <Page fault={fault} />
  </StrictMode>,
);
