import type { ServiceFigures } from "../figures/service-figures.ts";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator reads the calls of the last day, minute by minute. */
export const HISTORY_PATH = "/operator/history";

/** `GET /operator/history`, of all services, or of the one that `service` names. */
export function createHistoryApp(figures: ServiceFigures): HttpApp {
  return {
    fetch({ url, method }) {
      const { pathname, searchParams } = new URL(url);
      if (method !== "GET" || pathname !== HISTORY_PATH) return noSuchOperatorPath();
      return Response.json(figures.minutes(searchParams.get("service") || undefined));
    },
  };
}
