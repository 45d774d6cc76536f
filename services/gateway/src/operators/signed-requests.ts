import { createHash, createPublicKey, verify } from "node:crypto";
import { RecentMap } from "@rockbot/base";
import { newId, ToolError } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import type { LeaseStore } from "@rockbot/records/leases";
import { hashOf } from "@rockbot/runs";
import type { Context, MiddlewareHandler } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import type { Operator } from "../door/operator.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import { createOperator, OperatorRight } from "./operator.ts";

/** What a key opens: one call that waits, to be read and to be decided about. */
const OPENED = /^\/operator\/waiting\/[^/]+$/;
/** A request counts for so long before and after its time, in milliseconds. */
const FRESH_MS = 5 * 60_000;
const MAX_USED = 20_000;

/**
 * Tells which operator a system decides for, before anything of the body is read. The signature is that of Standard
 * Webhooks 1.0.0 by Ed25519 (v1a). Its payload is method, path and Content-Digest, so it counts for no other request.
 * @throws {ToolError} `unauthorized`, in words
 */
export function identifySigned(c: Context<GatewayEnv>, policy: Pick<PolicyHolder, "current">): Operator {
  const { method, headers, url = "" } = c.env.incoming;
  const text = (name: string): string => String(headers[name] ?? "");
  const [id, at, name, digest] = [
    text("webhook-id"),
    text("webhook-timestamp"),
    text("webhook-operator"),
    text("content-digest"),
  ];
  if (!OPENED.test(url) || (method !== "GET" && method !== "POST"))
    throw unsigned("a key opens GET and POST of /operator/waiting/ID, and nothing else");
  if (!/^[\w-]{1,256}$/.test(id)) throw unsigned("webhook-id is none of 1 to 256 letters, digits, _ and -");
  if (!/^\d{1,12}$/.test(at) || Math.abs(Date.now() - 1_000 * Number(at)) > FRESH_MS)
    throw unsigned("webhook-timestamp is no time in seconds within 5 minutes of now");
  const entry = policy.current().document.operators.find((each) => each.name === name);
  const signed = Buffer.from(`${id}.${at}.${method} ${url} ${digest}`);
  const signatures = text("webhook-signature")
    .split(" ")
    .slice(0, 5)
    .filter((each) => each.startsWith("v1a,"));
  const isSigned = (entry?.keys ?? []).some((key) =>
    signatures.some((each) => verify(null, signed, publicKey(key), Buffer.from(each.slice(4), "base64"))),
  );
  if (entry === undefined || !isSigned)
    throw unsigned(
      `no key that the policy has for the operator in webhook-operator has signed it: "ID.TIMESTAMP.METHOD PATH CONTENT-DIGEST"`,
    );
  c.set("signed", { operator: name, id, digest });
  const may = entry.may.filter((right) => right === OperatorRight.Decide);
  return createOperator({ name, may, speaksFor: [], sees: [] });
}

/** Lets a signed request on if its body is the one that was signed, and it has not come before. */
export function checkSigned(notes: Pick<LeaseStore, "hold"> | undefined): MiddlewareHandler<GatewayEnv> {
  const used = new RecentMap<string, true>(MAX_USED);
  const isFirst = async (name: string): Promise<boolean> => {
    if (used.has(name)) return false;
    used.set(name, true);
    const owner = newId();
    return notes === undefined || (await notes.hold(name, { owner, leaseMs: 2 * FRESH_MS })).owner === owner;
  };
  return async (c, next) => {
    const signed = c.get("signed");
    if (signed !== undefined) {
      const body = c.get("body");
      if (body instanceof ToolError) throw body;
      const digest = `sha-256=:${createHash("sha256")
        .update(body ?? "")
        .digest("base64")}:`;
      if (digest !== signed.digest) throw unsigned(`content-digest is not that of the body: "sha-256=:BASE64:"`);
      if (!(await isFirst(`webhook:used:${hashOf(JSON.stringify([signed.operator, signed.id]))}`)))
        throw unsigned("a request with this webhook-id has come before. Sign each with an id of its own");
    }
    await next();
  };
}

const publicKey = (key: string) => {
  const x = Buffer.from(key.slice("whpk_".length), "base64").toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
};

const unsigned = (why: string): ToolError =>
  new ToolError(HttpErrorCode.Unauthorized, `Cannot answer the signed request: ${why}`);
