import { createMemoryBus, createToolCaller, serveTools } from "rockbot";
import { type NamespacedProvider, namespacedTools } from "rockbot/json-schema";
import { expect, test } from "vitest";

/** A library with books that may be lent out. */
function library() {
  const told: object[] = [];
  let isOpen = false;
  let hasLend = true;
  const inputSchema = { type: "object", required: ["title"], properties: { title: { type: "string" } } };
  const provider: NamespacedProvider = {
    kind: "rest",
    namespace: "library",
    warmup() {
      isOpen = true;
    },
    listTools: () =>
      isOpen
        ? ["find", "lend"].map((name) => ({
            name,
            description: `To ${name} a book.`,
            inputSchema,
            readOnly: name === "find",
          }))
        : [],
    hasTool: (name) => name === "find" || hasLend,
    async execute(name, parameters, { caller, timeoutMs, signal }) {
      told.push({ name, parameters, caller, isTimed: timeoutMs > 0, isAborted: signal.aborted });
      const facts = { latencyMs: 1, kind: "rest", namespace: "library" };
      return name === "lend"
        ? { ok: false, error: "It is lent out.", ...facts }
        : { ok: true, result: "shelf 7", extras: { shelf: 7 }, ...facts };
    },
    getInstructions: () => "Find a book before you lend it.",
  };
  const closeLending = (): void => {
    hasLend = false;
  };
  return { provider, told, closeLending };
}

test("tools of a namespaced provider are served under their namespace, with its instructions as a guide, and its failures as errors", async () => {
  const { provider, told, closeLending } = library();
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, await namespacedTools(provider), { service: "books" });
  await using agent = await createToolCaller(bus, { agent: "tests" });
  await agent.discovered();

  const served = agent.tools.getTools().filter(({ name }) => !name.includes("guide"));
  expect(served.map(({ name, readOnly }) => [name, readOnly])).toEqual([
    ["library__find", true],
    ["library__lend", false],
  ]);
  expect((await agent.getGuides()).find(({ name }) => name === "library")?.document).toBe(
    "Find a book before you lend it.",
  );
  expect(await agent.call("library__find", { title: "Ulysses" })).toMatchObject({
    content: "shelf 7",
    structured: { shelf: 7 },
  });
  expect(told).toEqual([
    { name: "find", parameters: { title: "Ulysses" }, caller: "tests", isTimed: true, isAborted: false },
  ]);
  await expect(agent.call("library__lend", { title: "Ulysses" })).rejects.toMatchObject({
    code: "execution_failed",
    message: "It is lent out.",
  });
  await expect(agent.call("library__find", {})).rejects.toMatchObject({ code: "invalid_arguments" });
  closeLending();
  await expect(agent.call("library__lend", { title: "Dune" })).rejects.toThrow(
    '"library__lend" was not run: "library" does not have it any more. Find another tool.',
  );
});

test("a tool whose name or schema cannot be used is refused before it is served", async () => {
  const { provider } = library();
  const wrong = { ...provider, listTools: () => [{ name: "a b", inputSchema: { type: "string" } }] };
  await expect(namespacedTools(wrong)).rejects.toThrow(
    /Cannot define the tool "library__a b": the name must match .*; inputSchema must have type "object"/,
  );
});
