import { generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { readCommandCheck, readCommandKey } from "./command-keys.ts";
import { COMMAND_MS, type Command, CommandCheck, signCommand } from "./signed-command.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const CANCEL: Command = { kind: "cancel", service: "web-tools", operator: "ada", body: { toolCallId: "c1" } };

test("a command is taken once, by the service that it is for, in the minute of its time", () => {
  let now = 1_000_000_000;
  const clock = () => now;
  const check = new CommandCheck("web-tools", publicKey, clock);
  const signed = signCommand(privateKey, CANCEL, clock);
  expect(check.take(signed)).toEqual(CANCEL);
  expect(check.take(signed)).toMatch(/taken before/);
  expect(new CommandCheck("agent", publicKey, clock).take(signed)).toMatch(/it is for "web-tools"/);

  const late = signCommand(privateKey, CANCEL, clock);
  now += COMMAND_MS + 1;
  expect(check.take(late)).toMatch(/not of this minute/);
  expect(check.take(signCommand(privateKey, CANCEL, () => now + 2 * COMMAND_MS))).toMatch(/not of this minute/);
  const recent = signCommand(privateKey, CANCEL, clock);
  now += 1_000;
  expect(new CommandCheck("web-tools", publicKey, clock).take(recent)).toMatch(/older than this process/);
});

test("whatever is changed of a command, it is none any more", () => {
  const check = new CommandCheck("web-tools", publicKey);
  const signed = signCommand(privateKey, CANCEL);
  const words = JSON.parse(signed.command) as object;
  const other = generateKeyPairSync("ed25519").privateKey;
  for (const changed of [
    { ...signed, body: '{"toolCallId":"c2"}' },
    { ...signed, command: JSON.stringify({ ...words, kind: "approvals" }) },
    { ...signed, command: JSON.stringify({ ...words, operator: "eve" }) },
    { ...signed, signature: "" },
    { ...signed, signature: signCommand(privateKey, CANCEL).signature },
    signCommand(other, CANCEL),
    // Words that the key has signed for another purpose.
    { ...signed, signature: sign(null, Buffer.from(signed.command), privateKey).toString("base64url") },
  ])
    expect(check.take(changed)).toMatch(/signature is not|body is another/);
  expect(check.take(signed)).toEqual(CANCEL);
});

test("no more commands are remembered than there is room for, and none is forgotten while it is good", () => {
  let now = 1_000_000_000;
  const check = new CommandCheck("web-tools", publicKey, () => now);
  const sent = Array.from({ length: 10_000 }, () => signCommand(privateKey, CANCEL, () => now));
  for (const each of sent) expect(check.take(each)).toEqual(CANCEL);
  expect(check.take(signCommand(privateKey, CANCEL, () => now))).toMatch(/too many/);
  expect(check.take(sent[0] as (typeof sent)[0])).toMatch(/taken before/);
  now += COMMAND_MS + 1;
  expect(check.take(signCommand(privateKey, CANCEL, () => now))).toEqual(CANCEL);
});

test("keys are read as PEM or as base64, and what is none is refused without a word of it", () => {
  const pem = { type: "pkcs8", format: "pem" } as const;
  const text = privateKey.export(pem).toString();
  const der = privateKey.export({ type: "pkcs8", format: "der" }).toString("base64url");
  const open = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  for (const key of [text, der]) {
    const check = new CommandCheck("web-tools", readCommandCheck(open, "operatorPublicKey"));
    expect(check.take(signCommand(readCommandKey(key, "operatorKey"), CANCEL))).toEqual(CANCEL);
  }
  expect(() => readCommandKey(open, "operatorKey")).toThrow(/operatorKey: expected the private half/);
  expect(() => readCommandCheck(text, "operatorPublicKey")).toThrow(/expected the public half/);
  expect(() => readCommandKey("canary-of-the-test-in-a-setting", "operatorKey")).not.toThrow(/canary/);
  const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export(pem).toString();
  expect(() => readCommandKey(rsa, "operatorKey")).toThrow(/Ed25519/);
});
