import { recordOf, sizesOf, textOf, versionOf } from "./record-text.ts";
import { MAX_BYTES_PER_AGENT, MAX_RECORDS, noRoomFor, type TrustStore } from "./trust-store.ts";

/** Records of this process: they end with it. */
export function createMemoryTrustStore(): TrustStore {
  const texts = new Map<string, string>();
  let revision = 0;
  return {
    where: "memory",
    read: async (name) => recordOf(name, texts.get(name)),
    async write(name, value, version) {
      const current = texts.get(name);
      if ((current === undefined ? undefined : versionOf(current)) !== version) return false;
      if (value === undefined) texts.delete(name);
      else {
        const text = textOf(name, value);
        if (current === undefined && texts.size >= MAX_RECORDS) throw noRoomFor(name);
        texts.set(name, text);
      }
      revision++;
      return true;
    },
    names: async () => [...texts.keys()].sort(),
    room: async () => ({ sizes: sizesOf(texts), mostPerAgent: MAX_BYTES_PER_AGENT }),
    revision: async () => String(revision),
    async [Symbol.asyncDispose]() {
      texts.clear();
    },
  };
}
