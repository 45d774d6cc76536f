import { type BusService, egresses, redisKeys, type Server, stateKinds } from "@rockbot/services";
import { code, fillPage, table } from "../fill-page.ts";
import { keysText } from "./keys-text.ts";

/** `docs/reference/services.md`: what others have to know of each service. */
export function servicesReference(services: readonly (BusService | Server)[]): Promise<string> {
  const rows = services.map((service) => {
    const { topic, tools = [], owns = [], state = [], facets = [] }: Partial<BusService> = service.onBus ? service : {};
    const cells = [
      code(service.name),
      service.summary,
      [...(topic === undefined ? [] : [topic]), ...owns].map(code).join(", "),
      tools.map(code).join(", "),
      state.join(", "),
      facets.map(code).join(", "),
      redisKeys(service).map(keysText).join(", "),
      service.egress.map((kind) => egresses[kind]).join(", "),
      String(service.port ?? ""),
      service.profile === undefined ? "" : code(service.profile),
    ];
    return cells.map((cell) => cell || "-");
  });
  const head = [
    "service",
    "what it does",
    "topics",
    "tools",
    "state",
    "reads of the policy",
    "keys in Redis",
    "connects to",
    "port",
    "profile in compose",
  ];
  const kinds = Object.entries(stateKinds).map(([kind, { holds, keys }]) => [
    kind,
    holds,
    keys === undefined ? "-" : code(keys),
  ]);
  return fillPage("services", "services/index.ts, services/state.ts", {
    services: table(head, rows),
    state: table(["state", "what it holds", "keys in Redis"], kinds),
  });
}
