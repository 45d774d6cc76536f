import type { StreamResponse } from "@a2a-js/sdk";
import { V03PushNotificationSerializer } from "@a2a-js/sdk/compat/v0_3/server";
import { V1PushNotificationSerializer } from "@a2a-js/sdk/server";
import { type PublicFetch, postWebhook, type Webhook } from "@rockbot/edge/outbound";
import type { PushHook } from "../store/task-store.ts";

export interface News extends Pick<Webhook, "signal" | "attempt"> {
  readonly hook: PushHook;
  readonly response: StreamResponse;
}

const forms = { "1.0": new V1PushNotificationSerializer(), "0.3": new V03PushNotificationSerializer() };

/** Sends one step of a task. @returns why it did not arrive, in words; undefined if it did */
export function sendNews(fetch: PublicFetch, { hook, response, signal, attempt }: News): Promise<string | undefined> {
  const { body, contentType } = forms[hook.version].serialize(response);
  const { url, token, authentication } = hook;
  const headers = {
    "content-type": contentType,
    ...(authentication === undefined
      ? {}
      : { authorization: `${authentication.scheme} ${authentication.credentials}` }),
    ...(token === undefined ? {} : { "x-a2a-notification-token": token }),
  };
  return postWebhook(fetch, { url, body, headers: () => headers, signal, attempt });
}
