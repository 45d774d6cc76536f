import { ConfigError } from "@rockbot/process/config";
import { expect, test } from "vitest";
import { currentSettings } from "./current-settings.ts";

test("settings are read again after five seconds, and those with faults change nothing and are told once", () => {
  let now = 0;
  let read = (): { token: string } => ({ token: "second" });
  const lines: string[] = [];
  const note = (_fields: object, text: string) => void lines.push(text);
  const log = { debug: note, info: note, warn: note, error: note };
  const current = currentSettings({ token: "first" }, () => read(), { log, now: () => now });

  now = 4_999;
  expect(current()).toEqual({ token: "first" });
  now = 5_000;
  expect(current()).toEqual({ token: "second" });
  read = () => {
    throw new ConfigError(["token: expected 16 characters"]);
  };
  now = 10_000;
  expect(current()).toEqual({ token: "second" });
  now = 15_000;
  expect(current()).toEqual({ token: "second" });
  expect(lines).toEqual(["could not reload the settings, and uses the last ones"]);
  read = () => ({ token: "third" });
  now = 20_000;
  expect(current()).toEqual({ token: "third" });
});
