import type { KeptSkill } from "@rockbot/agent";

/** For skills of which one was written after strangers' content was read. */
export function skillTrust(skills: readonly KeptSkill[]) {
  const untrusted = skills.find(({ isUntrusted }) => isUntrusted);
  return untrusted === undefined ? {} : { trust: { level: "untrusted" as const, origin: `skill ${untrusted.name}` } };
}
