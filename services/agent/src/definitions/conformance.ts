import { createHash } from "node:crypto";
import { type DefinitionStore, definitionHash, type KeptDefinition } from "@rockbot/agent";
import { describe, expect, test } from "vitest";

/** A definition for tests, by alice. */
export function testKept(name: string, { approved = false, ...changes }: Partial<KeptDefinition> & { readonly approved?: boolean } = {}): KeptDefinition {
  const maker = changes.maker ?? "alice";
  const plain = { name, description: `About ${name}.`, playbook: `Work as ${name}.`, tools: ["web_*"], maker, isUntrusted: false, ...changes };
  const hash = definitionHash(plain);
  const id = createHash("sha256").update(`${maker} ${name}`).digest("hex").slice(0, 24);
  return { id, version: 1, createdAt: 1_000, updatedAt: 1_000, ...plain, hash, ...(approved ? { approvedHash: hash } : {}) };
}

const next = (before: KeptDefinition, changes: Partial<KeptDefinition> = {}): KeptDefinition => {
  const changed = { ...before, ...changes, version: before.version + 1, updatedAt: before.updatedAt + 1 };
  return { ...changed, hash: definitionHash(changed) };
};

const MANY = 100;

/** The suite of stores. @param open makes a store that is empty, and another one of the same database */
export function testDefinitionStore(
  kind: string,
  open: () => Promise<{ readonly store: DefinitionStore; again(): Promise<DefinitionStore> } & AsyncDisposable>,
): void {
  const namesFor = async (store: DefinitionStore, caller: string) => (await store.visibleTo(caller)).map(({ maker, name }) => `${maker}/${name}`);

  describe(kind, () => {
    test("a definition is kept as it is, and read by all that use the database, also later", async () => {
      await using opened = await open();
      const { store, again } = opened;
      const full = testKept("clerk", {
        model: "cheap",
        budgets: { maxTokens: 5_000, timeoutMs: 60_000, maxIterations: 5 },
        destinations: ["other"],
        reportSchema: { type: "object" },
        isUntrusted: true,
        playbook: 'Zeile\n"ä" \u{1f916} 日本',
      });
      expect(await store.create(full, MANY)).toBe("created");
      await using other = await again();
      expect(await other.get(full.id)).toEqual(full);
      expect(await other.all()).toEqual([full]);
      expect(await other.get("0".repeat(24))).toBeUndefined();
    });

    test("a maker has one of a name, as many as it may have, and others may have the same names", async () => {
      await using opened = await open();
      const { store } = opened;
      const clerk = testKept("clerk");
      expect(await store.create(clerk, 2)).toBe("created");
      expect(await store.create(clerk, 2)).toBe("there");
      expect(await store.create({ ...clerk, id: "f".repeat(24) }, 2)).toBe("taken");
      const other = testKept("other");
      expect(await store.create(other, 2)).toBe("created");
      expect(await store.create(testKept("third"), 2)).toBe("full");
      expect(await store.create(testKept("clerk", { maker: "bob" }), 2)).toBe("created");
      expect(await store.update(next(other, { name: "clerk" }))).toBe("taken");
      expect(await store.get(other.id)).toEqual(other);
    });

    test("a caller sees its own first, and of others what an operator has approved as it is", async () => {
      await using opened = await open();
      const { store } = opened;
      const bobs = testKept("shared", { maker: "bob", createdAt: 1 });
      for (const each of [bobs, testKept("secret", { maker: "bob" }), testKept("b", { createdAt: 2_000 }), testKept("a")]) await store.create(each, MANY);
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.approve(bobs.id, "another hash")).toBe("stale");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.approve(bobs.id, bobs.hash)).toBe("changed");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b", "bob/shared"]);
      const changed = next(bobs, { playbook: "Another." });
      expect(await store.update(changed)).toBe("changed");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.update(next(changed, { playbook: bobs.playbook }))).toBe("changed"); // as it was approved
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b", "bob/shared"]);
      expect(await store.approve(bobs.id, undefined)).toBe("changed");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.approve("0".repeat(24), undefined)).toBe("gone");
    });

    test("of changes of one version one is made, whoever makes them", async () => {
      await using opened = await open();
      const { store, again } = opened;
      await using other = await again();
      const clerk = testKept("clerk");
      await store.create(clerk, MANY);
      const changes = Array.from({ length: 10 }, (_, i) => (i % 2 ? store : other).update(next(clerk, { description: `Change ${i}.` })));
      const outcomes = await Promise.all(changes);
      expect(outcomes.toSorted()).toEqual(["changed", ...Array.from({ length: 9 }, () => "stale")]);
      const kept = await store.get(clerk.id);
      expect(kept).toMatchObject({ version: 2, description: `Change ${outcomes.indexOf("changed")}.`, createdAt: 1_000, updatedAt: 1_001 });
      expect(await store.remove(clerk.id, 1)).toBe("stale");
      expect(await store.remove(clerk.id, 2)).toBe("changed");
      expect(await store.remove(clerk.id, 2)).toBe("gone");
      expect(await store.update(next(clerk))).toBe("gone");
    });

    test("a session is what it was last switched to, for its caller alone, until that is removed", async () => {
      await using opened = await open();
      const { store, again } = opened;
      const [clerk, cook] = [testKept("clerk"), testKept("cook")];
      for (const each of [clerk, cook]) await store.create(each, MANY);
      await store.switchSession("alice", "s1", clerk.id);
      await store.switchSession("alice", "s1", cook.id);
      await store.switchSession("alice", "s2", clerk.id);
      await using other = await again();
      expect(await other.switchedTo("alice", "s1")).toBe(cook.id);
      expect(await other.switchedTo("bob", "s1")).toBeUndefined();
      await other.switchSession("alice", "s1", undefined);
      expect(await store.switchedTo("alice", "s1")).toBeUndefined();
      await store.remove(clerk.id, 1);
      expect(await store.switchedTo("alice", "s2")).toBeUndefined();
    });

    test("many that make definitions of one name at once make one", async () => {
      await using opened = await open();
      const { store, again } = opened;
      await using other = await again();
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 ? store : other).create({ ...testKept("clerk"), id: String(i).padStart(24, "0") }, MANY)),
      );
      expect(made.filter((outcome) => outcome === "created")).toHaveLength(1);
      expect(new Set(made)).toEqual(new Set(["created", "taken"]));
    });
  });
}
