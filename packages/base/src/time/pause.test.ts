import { expect, onTestFinished, test, vi } from "vitest";
import { LightAbort } from "../abort/light-abort.ts";
import { pause } from "./pause.ts";

test("waits its time, or until it is aborted, and leaves nothing behind", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ended: string[] = [];
  const [patient, hasty, aborted] = [new LightAbort(), new LightAbort(), new LightAbort()];
  aborted.abort("before");
  void pause(1_000, patient).then(() => ended.push("patient"));
  void pause(1_000, hasty).then(() => ended.push("hasty"));
  void pause(1_000, aborted).then(() => ended.push("aborted"));
  await vi.advanceTimersByTimeAsync(500);
  hasty.abort("now");
  await vi.advanceTimersByTimeAsync(0);
  expect(ended).toEqual(["aborted", "hasty"]);
  await vi.advanceTimersByTimeAsync(500);
  expect(ended).toEqual(["aborted", "hasty", "patient"]);
  expect(vi.getTimerCount()).toBe(0);
});
