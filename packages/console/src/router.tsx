import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { createContext, useContext } from "react";
import { CallsPage } from "./pages/calls.tsx";
import { NowPage } from "./pages/now.tsx";
import { Frame } from "./shell/frame.tsx";

/** Called when the session has ended. */
export const LoggedOut = createContext<() => void>(() => {});

const root = createRootRoute({
  component: function Root() {
    return <Frame onLoggedOut={useContext(LoggedOut)} />;
  },
  notFoundComponent: () => <p>There is no such page. The rail has those that there are.</p>,
});

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");

const time = (value: unknown): number => (Number.isSafeInteger(Number(text(value))) ? Number(text(value)) : 0);

const routes = [
  createRoute({ getParentRoute: () => root, path: "/", component: NowPage }),
  createRoute({
    getParentRoute: () => root,
    path: "/calls",
    component: CallsPage,
    validateSearch: (search) => ({
      ...(text(search["caller"]) && { caller: text(search["caller"]) }),
      ...(text(search["tool"]) && { tool: text(search["tool"]) }),
      ...(text(search["code"]) && { code: text(search["code"]) }),
      ...(text(search["state"]) && { state: text(search["state"]) }),
      ...(text(search["session"]) && { session: text(search["session"]) }),
      ...(text(search["id"]) && { id: text(search["id"]) }),
      ...(time(search["before"]) && { before: time(search["before"]) }),
      ...(time(search["after"]) && { after: time(search["after"]) }),
    }),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/calls/$id",
    component: lazyRouteComponent(() => import("./pages/call.tsx"), "CallPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/waiting",
    component: lazyRouteComponent(() => import("./pages/waiting.tsx"), "WaitingPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/waiting/$id",
    component: lazyRouteComponent(() => import("./pages/waiting/one.tsx"), "WaitingOnePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/tools",
    component: lazyRouteComponent(() => import("./pages/tools.tsx"), "ToolsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/tools/$name",
    component: lazyRouteComponent(() => import("./pages/tool.tsx"), "ToolPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/agents",
    component: lazyRouteComponent(() => import("./pages/agents.tsx"), "AgentsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/letters",
    component: lazyRouteComponent(() => import("./pages/letters.tsx"), "LettersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/servers",
    component: lazyRouteComponent(() => import("./pages/servers.tsx"), "ServersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    component: lazyRouteComponent(() => import("./pages/audit.tsx"), "AuditPage"),
    validateSearch: (search) => ({
      ...(text(search["caller"]) && { caller: text(search["caller"]) }),
      ...(text(search["tool"]) && { tool: text(search["tool"]) }),
      ...(text(search["operator"]) && { operator: text(search["operator"]) }),
      ...(time(search["after"]) && { after: time(search["after"]) }),
      ...(time(search["before"]) && { before: time(search["before"]) }),
    }),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/policy",
    validateSearch: (search) => ({
      ...(text(search["caller"]) && { caller: text(search["caller"]) }),
      ...(text(search["tool"]) && { tool: text(search["tool"]) }),
    }),
    component: lazyRouteComponent(() => import("./pages/policy.tsx"), "PolicyPage"),
  }),
];

export const router = createRouter({ routeTree: root.addChildren(routes), basepath: "/console" });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
