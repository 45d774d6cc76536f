import { readFile } from "node:fs/promises";
import { type BusRights, busRights, readPolicy } from "@rockbot/policy";
import { code, fillPage, table } from "../fill-page.ts";

/** `docs/reference/broker-rights.md`: what the broker grants under a policy, by an example of one. */
export async function brokerRightsReference(file: string): Promise<string> {
  return fillPage("broker-rights", file, { example: file, rights: await brokerRightsTable(file) });
}

/** What each user may do at the broker under the policy in a file. */
export async function brokerRightsTable(file: string): Promise<string> {
  const { document } = await readPolicy(await readFile(file, "utf8"), file);
  return rightsTable(busRights(document));
}

function rightsTable(rights: readonly BusRights[]): string {
  const rows = rights.map(({ user, serves, operates, publishes, hears }) => {
    const is = [...serves.map((service) => `the service ${service}`), ...(operates.length > 0 ? ["an operator"] : [])];
    return [code(user), is.join(", ") || "a caller", list(publishes), list(hears)];
  });
  return table(["user", "is", "may publish to", "may subscribe to"], rows);
}

const list = (patterns: readonly string[]): string => patterns.map(code).join(" ");
