import { type PolicyHolder, policyNotes } from "@rockbot/policy";
import { ConfigError } from "@rockbot/process/config";
import { type BusService, busServices, type Finding } from "@rockbot/services";
import packageJson from "../../package.json" with { type: "json" };
import type { ChosenService } from "./up-config.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where a service would listen. */
export interface Listens {
  readonly name: string;
  readonly port: number;
  readonly host: string;
}

export interface ExamineHereOptions {
  readonly busUrl: string;
  readonly env: Env;
  /** The services that run here, with their settings. @default those of the environment */
  readonly chosen?: readonly ChosenService[];
  /** Services that run elsewhere, with settings of theirs: only what is well with them here is said. */
  readonly elsewhere?: readonly string[];
}

/** What the services of this process find on its machine, or would find with the settings of the environment. */
export async function examineHere({ busUrl, env, chosen = [], elsewhere = [] }: ExamineHereOptions) {
  const examined = await Promise.all(busServices.map((service) => examine(service, { busUrl, env, chosen })));
  const findings = examined.flatMap(({ found }, at) =>
    found.filter(({ state }) => state === "ok" || !elsewhere.includes(busServices[at]?.name ?? "")),
  );
  return { findings: [node(), ...findings], listens: examined.flatMap(({ listens }) => listens ?? []) };
}

/** What holds for callers by a policy, or without one. */
export function policyFinding(file: string | undefined, policy: PolicyHolder): Finding {
  const what = "policy";
  if (file === undefined)
    return {
      what,
      state: "off",
      message: "none: every caller may use every tool except the dangerous ones. Set --policy or POLICY_FILE",
    };
  const { revision, document } = policy.current();
  return {
    what,
    state: "ok",
    message: [`${file}, revision ${revision}, identity ${document.identity}`, ...policyNotes(document)].join("; "),
  };
}

function node(): Finding {
  const wanted = /\d+/.exec(packageJson.engines.node)?.[0];
  const isNew = Number(process.versions.node.split(".", 1)[0]) >= Number(wanted);
  return {
    what: "Node.js",
    state: isNew ? "ok" : "broken",
    message: isNew
      ? process.versions.node
      : `${process.versions.node} is too old: RockBot needs ${wanted}. Start it with ./rockbot, which installs its own`,
  };
}

/** The findings of a service, and whether its settings can be used. */
async function examine(service: BusService, { busUrl, env, chosen }: Required<Omit<ExamineHereOptions, "elsewhere">>) {
  try {
    const [load, { checkFiles }] = await Promise.all([service.loader(), service.settings()]);
    const config =
      chosen.find((each) => each.service.name === service.name)?.config ?? load({ env, overrides: { busUrl } });
    checkFiles?.(config, env);
    const found = (await service.examine?.(config, env)) ?? [];
    return service.port === undefined
      ? { found }
      : { found, listens: { name: service.name, ...(config as unknown as Omit<Listens, "name">) } };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      found: [
        { what: service.name, state: "broken", message: `cannot start: ${error.faults.join("; ")}` } satisfies Finding,
      ],
    };
  }
}
