import type { OperatorHttpApp } from "./operator.ts";

/** Each path, with all below it, to the app of its name. */
export function operatorRoutes(apps: Readonly<Record<string, OperatorHttpApp>>): OperatorHttpApp {
  return {
    fetch(request, env) {
      const { pathname } = new URL(request.url);
      const app = Object.entries(apps).find(([path]) => pathname === path || pathname.startsWith(`${path}/`))?.[1];
      return app?.fetch(request, env) ?? noSuchOperatorPath();
    },
  };
}

/** The answer for a path that operators do not have. */
export const noSuchOperatorPath = (): Response =>
  Response.json({ message: "Cannot answer the request: there is no such path for operators" }, { status: 404 });
