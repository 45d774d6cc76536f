import { expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import { retried } from "./retried.ts";

const { signal } = new AbortController();
const answer = (status: number, retryAfter?: string) => new ApiError("ask", status, "", retryAfter);

async function attemptsOf(errors: readonly Error[]): Promise<{ readonly count: number; readonly settled: unknown }> {
  let count = 0;
  const settled = await retried(signal, async () => {
    const error = errors[count++];
    if (error !== undefined) throw error;
    return "done";
  }).catch((error: unknown) => error);
  return { count, settled };
}

test("what passes is tried again, five times at most", async () => {
  expect(await attemptsOf([answer(500), answer(503), new Error("reset")])).toEqual({ count: 4, settled: "done" });
  const broken = Array.from({ length: 9 }, () => answer(500));
  expect(await attemptsOf(broken)).toEqual({ count: 5, settled: broken[4] });
});

test.each([400, 401, 403, 404, 409, 422])("a status of %i is not tried again", async (status) => {
  const error = answer(status);

  expect(await attemptsOf([error])).toEqual({ count: 1, settled: error });
});

test("a server that has not read its Roles yet is asked again, and one where they are missing is believed in the end", async () => {
  const said =
    'pods is forbidden: User "manager" cannot create resource "pods": RBAC: role.rbac.authorization.k8s.io "manager" not found';
  const refusals = Array.from({ length: 9 }, () => new ApiError("create a pod", 403, said, undefined));

  expect(await attemptsOf(refusals.slice(0, 2))).toEqual({ count: 3, settled: "done" });
  expect(await attemptsOf(refusals)).toEqual({ count: 5, settled: refusals[4] });
});

test("the next attempt waits for as long as the server asks", async () => {
  const began = performance.now();

  expect(await attemptsOf([answer(429, "1")])).toEqual({ count: 2, settled: "done" });
  expect(performance.now() - began).toBeGreaterThan(995);
});

test("a server that asks for longer than anybody waits is not waited for", async () => {
  const error = answer(429, "3600");

  expect(await attemptsOf([error])).toEqual({ count: 1, settled: error });
});

test("who gives up is told his own reason at once", async () => {
  const reason = new Error("given up");
  const given = new AbortController();
  const waiting = retried(given.signal, async () => {
    setImmediate(() => given.abort(reason));
    throw answer(429, "20");
  });

  await expect(waiting).rejects.toBe(reason);
});
