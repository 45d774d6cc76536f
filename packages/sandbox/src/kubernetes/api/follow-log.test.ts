import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import { followLog } from "./follow-log.ts";
import type { PodsApi } from "./pods-api.ts";

const { signal } = new AbortController();
const noSuchPod = () => new ApiError("read the log of a pod", 404, 'pods "one" not found', undefined);

/** What is read of a pod's log whose server answers so, one time after the other, and as the last time from then on. */
async function follow(
  answers: readonly (ApiError | string)[],
  pod: { readonly isOver: boolean; readonly isGone: boolean },
) {
  const asked: (ApiError | string | undefined)[] = [];
  const log = async (): Promise<Readable> => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(answer);
    if (answer instanceof ApiError) throw answer;
    return Readable.from([Buffer.from(answer ?? "")]);
  };
  const lines: string[] = [];
  const following = followLog({ log } as unknown as PodsApi, "one", {
    isOver: () => pod.isOver,
    isGone: () => pod.isGone,
    limitBytes: 1_000,
    signal,
  });
  let next = await following.next();
  for (; next.done !== true; next = await following.next()) lines.push(next.value);
  return { lines, isWhole: next.value, asked: asked.length };
}

test("a log that a kubelet does not know of yet is asked for again while its pod is there", async () => {
  const answers = [noSuchPod(), noSuchPod(), "one\ntwo\n"];
  expect(await follow(answers, { isOver: true, isGone: false })).toEqual({
    lines: ["one", "two"],
    isWhole: true,
    asked: 3,
  });
});

test("a log is not asked for again once its pod is gone", async () => {
  expect(await follow([noSuchPod()], { isOver: true, isGone: true })).toEqual({ lines: [], isWhole: false, asked: 1 });
});

test("a log that stays away is given up once its pod is over", async () => {
  expect(await follow([noSuchPod()], { isOver: true, isGone: false })).toMatchObject({ lines: [], isWhole: false });
});
