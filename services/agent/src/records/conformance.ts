import { createHash } from "node:crypto";
import {
  definitionHash,
  type KeptDefinition,
  type KeptRecord,
  type KeptSkill,
  MAX_CHARS_OF_MAKER,
  NO_BOUNDS,
  type RecordStore,
} from "@rockbot/agent";
import { type KeptWisp, wispHash } from "@rockbot/wisps";
import { describe, expect, test } from "vitest";
import type { AgentRecords } from "./agent-records.ts";

type Changes<T> = Partial<T> & { readonly approved?: boolean };

const idOf = (kind: string, maker: string, name: string): string =>
  createHash("sha256").update(`${kind} ${maker} ${name}`).digest("hex").slice(0, 24);

/** A definition for tests, by alice. */
export function testKept(name: string, { approved = false, ...changes }: Changes<KeptDefinition> = {}): KeptDefinition {
  const maker = changes.maker ?? "alice";
  const plain = {
    name,
    description: `About ${name}.`,
    playbook: `Work as ${name}.`,
    tools: ["web_*"],
    maker,
    isUntrusted: false,
    grant: NO_BOUNDS,
    ...changes,
  };
  const hash = definitionHash(plain);
  const facts = { id: idOf("definition", maker, name), version: 1, createdAt: 1_000, updatedAt: 1_000 };
  return { ...facts, ...plain, hash, ...(approved ? { approvedHash: hash } : {}) };
}

/** A skill for tests, by alice. */
function testSkill(name: string, { approved = false, ...changes }: Changes<KeptSkill> = {}): KeptSkill {
  const maker = changes.maker ?? "alice";
  const plain = {
    name,
    summary: `About ${name}.`,
    tags: [],
    content: `How ${name} is done.`,
    maker,
    isUntrusted: false,
    grant: NO_BOUNDS,
    ...changes,
  };
  const hash = createHash("sha256").update(JSON.stringify(plain)).digest("hex");
  const facts = { id: idOf("skill", maker, name), version: 1, createdAt: 1_000, updatedAt: 1_000 };
  return { ...facts, ...plain, hash, ...(approved ? { approvedHash: hash } : {}) };
}

/** A wisp for tests, by alice. */
function testWisp(name: string, { approved = false, ...changes }: Changes<KeptWisp> = {}): KeptWisp {
  const maker = changes.maker ?? "alice";
  const definition: KeptWisp["definition"] = {
    description: `About ${name}.`,
    steps: [{ id: "a", tool: "web_search" }],
  };
  const plain = { name, definition, maker, isUntrusted: false, grant: NO_BOUNDS, ...changes };
  const hash = wispHash(plain);
  const facts = { id: idOf("wisp", maker, name), version: 1, createdAt: 1_000, updatedAt: 1_000 };
  return { ...facts, ...plain, hash, ...(approved ? { approvedHash: hash } : {}) };
}

const next = <T extends KeptRecord>(before: T, changes: Partial<T> = {}): T => {
  const changed = { ...before, ...changes, version: before.version + 1, updatedAt: before.updatedAt + 1 };
  return { ...changed, hash: JSON.stringify({ ...changed, version: 0, updatedAt: 0, hash: "" }) };
};

interface Kind<T extends KeptRecord> {
  readonly storeOf: (records: AgentRecords) => RecordStore<T>;
  readonly make: (name: string, changes?: Changes<KeptRecord>) => T;
  /** A record that has all that one may have. */
  readonly full: T;
}

const definitions: Kind<KeptDefinition> = {
  storeOf: (records) => records.definitions,
  make: testKept,
  full: testKept("clerk", {
    model: "cheap",
    budgets: { maxTokens: 5_000, timeoutMs: 60_000, maxIterations: 5 },
    destinations: ["other"],
    reportSchema: { type: "object" },
    isUntrusted: true,
    playbook: 'Zeile\n"ä" \u{1f916} 日本',
  }),
};

const skills: Kind<KeptSkill> = {
  storeOf: (records) => records.skills,
  make: testSkill,
  full: testSkill("office/mail", {
    tags: ["mail", "office"],
    content: '---\ntags: [mail]\n---\n"ä" \u{1f916} 日本',
    isUntrusted: true,
  }),
};

const wisps: Kind<KeptWisp> = {
  storeOf: (records) => records.wisps,
  make: testWisp,
  full: testWisp("first-result", { inputSchema: { type: "object", properties: { ä: {} } }, isUntrusted: true }),
};

const MANY = 100;

type Open = () => Promise<{ readonly records: AgentRecords; again(): Promise<AgentRecords> } & AsyncDisposable>;

/** The suite of databases. @param open makes one that is empty, and opens the same again */
export function testAgentRecords(database: string, open: Open): void {
  testRecordStore(`definitions in ${database}`, definitions, open);
  testRecordStore(`skills in ${database}`, skills, open);
  testRecordStore(`wisps in ${database}`, wisps, open);

  test(`records of two kinds may have one name in ${database}`, async () => {
    await using opened = await open();
    const { records } = opened;
    expect(await records.definitions.create(testKept("clerk"), 1)).toBe("created");
    expect(await records.skills.create(testSkill("clerk"), 1)).toBe("created");
    expect(await records.definitions.all()).toEqual([testKept("clerk")]);
    expect(await records.skills.all()).toEqual([testSkill("clerk")]);
  });

  test(`a session in ${database} is what it was last switched to, for its caller alone, also once that is removed`, async () => {
    await using opened = await open();
    const store = opened.records.definitions;
    const [clerk, cook] = [testKept("clerk"), testKept("cook")];
    for (const each of [clerk, cook]) await store.create(each, MANY);
    await store.switchSession("alice", "s1", clerk.id);
    await store.switchSession("alice", "s1", cook.id);
    await store.switchSession("alice", "s2", clerk.id);
    await using again = await opened.again();
    const other = again.definitions;
    expect(await other.switchedTo("alice", "s1")).toBe(cook.id);
    expect(await other.switchedTo("bob", "s1")).toBeUndefined();
    await other.switchSession("alice", "s1", undefined);
    expect(await store.switchedTo("alice", "s1")).toBeUndefined();
    await store.remove(clerk.id, 1);
    expect(await store.switchedTo("alice", "s2")).toBe(clerk.id);
  });
}

function testRecordStore<T extends KeptRecord>(title: string, { storeOf, make, full }: Kind<T>, open: Open): void {
  const namesFor = async (store: RecordStore<T>, caller: string) =>
    (await store.visibleTo(caller)).map(({ maker, name }) => `${maker}/${name}`);

  describe(title, () => {
    test("a record is kept as it is, and read by all that use the database, also later", async () => {
      await using opened = await open();
      const store = storeOf(opened.records);
      expect(await store.create(full, MANY)).toBe("created");
      await using again = await opened.again();
      const other = storeOf(again);
      expect(await other.get(full.id)).toEqual(full);
      expect(await other.all()).toEqual([full]);
      expect(await other.get("0".repeat(24))).toBeUndefined();
    });

    test("a maker has one of a name, as many as it may have, and others may have the same names", async () => {
      await using opened = await open();
      const store = storeOf(opened.records);
      const clerk = make("clerk");
      expect(await store.create(clerk, 2)).toBe("created");
      expect(await store.create(clerk, 2)).toBe("there");
      expect(await store.create({ ...clerk, id: "f".repeat(24) }, 2)).toBe("taken");
      const other = make("other");
      expect(await store.create(other, 2)).toBe("created");
      expect(await store.create(make("third"), 2)).toBe("full");
      expect(await store.create(make("clerk", { maker: "bob" }), 2)).toBe("created");
      expect(await store.update({ ...next(other), name: "clerk" })).toBe("taken");
      expect(await store.get(other.id)).toEqual(other);
    });

    test("what a maker has is of a bounded length together, as each of its turns reads it", async () => {
      await using opened = await open();
      const store = storeOf(opened.records);
      const long = (name: string, maker = "alice") =>
        ({ ...make(name, { maker }), padding: "x".repeat(MAX_CHARS_OF_MAKER / 2 - 10_000) }) as T;
      expect([
        await store.create(long("a"), MANY),
        await store.create(long("b"), MANY),
        await store.create(make("c"), MANY),
      ]).toEqual(Array(3).fill("created"));
      expect(await store.create(long("d"), MANY)).toBe("large");
      expect(await store.update({ ...next(make("c")), padding: long("c") } as T)).toBe("large");
      expect(await store.create(long("d", "bob"), MANY)).toBe("created");
      expect(await store.update(next(long("a")))).toBe("changed"); // its own length counts once
    });

    test("a caller sees its own first, and of others what an operator has approved as it is", async () => {
      await using opened = await open();
      const store = storeOf(opened.records);
      const bobs = make("shared", { maker: "bob", createdAt: 1 });
      for (const each of [bobs, make("secret", { maker: "bob" }), make("b", { createdAt: 2_000 }), make("a")])
        await store.create(each, MANY);
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.approve(bobs.id, "another hash")).toBe("stale");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.approve(bobs.id, bobs.hash)).toBe("changed");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b", "bob/shared"]);
      const changed = { ...next(bobs), isUntrusted: true };
      expect(await store.update(changed)).toBe("changed");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.update({ ...next(changed), isUntrusted: false, hash: bobs.hash })).toBe("changed"); // as it was approved
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b", "bob/shared"]);
      expect(await store.approve(bobs.id, undefined)).toBe("changed");
      expect(await namesFor(store, "alice")).toEqual(["alice/a", "alice/b"]);
      expect(await store.approve("0".repeat(24), undefined)).toBe("gone");
    });

    test("of changes of one version one is made, whoever makes them", async () => {
      await using opened = await open();
      const store = storeOf(opened.records);
      await using again = await opened.again();
      const other = storeOf(again);
      const clerk = make("clerk");
      await store.create(clerk, MANY);
      const changes = Array.from({ length: 10 }, (_, i) =>
        (i % 2 ? store : other).update({ ...next(clerk), hash: `change ${i}` }),
      );
      const outcomes = await Promise.all(changes);
      expect(outcomes.toSorted()).toEqual(["changed", ...Array.from({ length: 9 }, () => "stale")]);
      const kept = await store.get(clerk.id);
      expect(kept).toMatchObject({
        version: 2,
        hash: `change ${outcomes.indexOf("changed")}`,
        createdAt: 1_000,
        updatedAt: 1_001,
      });
      expect(await store.remove(clerk.id, 1)).toBe("stale");
      expect(await store.remove(clerk.id, 2)).toBe("changed");
      expect(await store.remove(clerk.id, 2)).toBe("gone");
      expect(await store.update(next(clerk))).toBe("gone");
    });

    test("many that make records of one name at once make one", async () => {
      await using opened = await open();
      const store = storeOf(opened.records);
      await using again = await opened.again();
      const other = storeOf(again);
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? store : other).create({ ...make("clerk"), id: String(i).padStart(24, "0") }, MANY),
        ),
      );
      expect(made.filter((outcome) => outcome === "created")).toHaveLength(1);
      expect(new Set(made)).toEqual(new Set(["created", "taken"]));
    });
  });
}
