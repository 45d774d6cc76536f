import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { PushHook, StoredTask } from "../store/task-store.ts";

const MAX_URL = 2_048;
const MAX_SECRET = 4_096;

/**
 * All faults of what a client asks for, in words; undefined if there is none. The connection itself shows whether the
 * address may be reached.
 */
export function hookFault({ id, url, token, authentication }: TaskPushNotificationConfig): string | undefined {
  const parsed = url.length > MAX_URL ? null : URL.parse(url);
  const faults = [
    ...(/^[\w.:-]{0,128}$/.test(id) ? [] : ["id: expected at most 128 letters, digits, or characters of _.:-"]),
    ...(parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== "" || parsed.password !== ""
      ? [`url: expected one of http or https, of at most ${MAX_URL} characters, and without a password`]
      : []),
    ...(isHeaderText(token) ? [] : [`token: expected at most ${MAX_SECRET} visible ASCII characters`]),
    ...(authentication === undefined || /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(authentication.scheme)
      ? []
      : ["authentication.scheme: expected the name of a scheme of HTTP, such as Bearer"]),
    ...(isHeaderText(authentication?.credentials ?? "")
      ? []
      : [`authentication.credentials: expected at most ${MAX_SECRET} visible ASCII characters`]),
  ];
  return faults.length === 0 ? undefined : faults.join("; ");
}

const isHeaderText = (text: string): boolean => text.length <= MAX_SECRET && /^[\x20-\x7e]*$/.test(text);

/** A task has one hook without an id: its id is the task's. */
export const hookOf = (
  task: StoredTask,
  { id, url, token, authentication }: TaskPushNotificationConfig,
  version: string | undefined,
): PushHook => ({
  id: id || task.id,
  taskId: task.id,
  by: task.by,
  url,
  ...(token ? { token } : {}),
  ...(authentication?.credentials
    ? { authentication: { scheme: authentication.scheme, credentials: authentication.credentials } }
    : {}),
  version: version === "1.0" ? "1.0" : "0.3",
});

export const configOf = ({ id, taskId, url, token = "", authentication }: PushHook): TaskPushNotificationConfig => ({
  tenant: "",
  id,
  taskId,
  url,
  token,
  authentication,
});
