import { registerSecret } from "@rockbot/base/redaction";
import { ApplyRightsError, applyRights } from "@rockbot/bus-rabbitmq";
import { counted } from "@rockbot/contracts";
import { policyUsers, UNVERIFIED } from "../broker/policy-users.ts";
import { readPasswords } from "../broker/read-passwords.ts";
import { readVariable } from "../broker/read-variable.ts";
import { CommandError } from "../command-error.ts";
import { plainText } from "../terminal/plain-text.ts";
import { UsageError } from "../usage-error.ts";

export interface BrokerApplyOptions {
  readonly policy?: string;
  readonly management?: string;
  readonly passwords?: string;
  readonly vhost?: string;
  readonly timeout?: string;
}

const MAX_TIMEOUT_S = 24 * 3600;

/** `rockbot broker apply`: brings a running broker to what the policy grants. */
export async function applyBrokerRights({
  policy: option,
  management,
  passwords: folder,
  vhost = "/",
  timeout = "300",
}: BrokerApplyOptions): Promise<void> {
  const { env } = process;
  const file = option ?? (env["POLICY_FILE"] || undefined);
  const seconds = Number(timeout);
  const faults = [
    ...(file === undefined ? ["--policy: missing, and POLICY_FILE is not set. The policy says who the users are"] : []),
    ...(vhost === "" ? ["--vhost: expected a name"] : []),
    ...(seconds > 0 && seconds <= MAX_TIMEOUT_S
      ? []
      : [`--timeout: expected seconds, more than 0 and at most ${MAX_TIMEOUT_S}`]),
  ];
  const managementUrl = await readManagementUrl(management, env, faults);
  if (file === undefined || faults.length > 0) throw new UsageError(faults);

  const { users, isVerified } = await policyUsers(file);
  const passwords = await readPasswords(
    users.map(({ user }) => user),
    env,
    folder,
  );
  const say = (text: string): void => console.error(plainText(text));
  try {
    const changes = await applyRights(users, {
      managementUrl,
      passwords,
      vhost,
      timeoutMs: seconds * 1000,
      onWait: (reason) => say(`waiting for ${reason}`),
      onChange: say,
    });
    say(
      `${counted(users.length, "user")}: ${users.map(({ user }) => user).join(", ")}; ${changes === 0 ? "nothing to change" : counted(changes, "change")}`,
    );
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError([`the management URL: ${error.message}`]);
    if (!(error instanceof ApplyRightsError)) throw error;
    throw new CommandError(["Cannot apply the policy's rights to the broker:", ...error.faults].join("\n  "));
  }
  if (!isVerified) say(UNVERIFIED);
}

/** The address with user and password, which may come apart from it: an operator's Secret has them so. */
async function readManagementUrl(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  faults: string[],
): Promise<string> {
  const [given, user, password] = await Promise.all(
    ["ROCKBOT_MANAGEMENT_URL", "ROCKBOT_MANAGEMENT_USER", "ROCKBOT_MANAGEMENT_PASSWORD"].map((variable) =>
      readVariable(variable, env, faults),
    ),
  );
  const text = option ?? given;
  const url = URL.parse(text ?? "");
  if (text === undefined)
    faults.push(
      "--management: missing, and ROCKBOT_MANAGEMENT_URL is not set. Give the address of RabbitMQ's management API",
    );
  if (url === null) return text ?? "";
  if (user !== undefined) url.username = encodeURIComponent(user);
  if (password !== undefined) {
    registerSecret(password);
    url.password = encodeURIComponent(password);
  }
  return url.href;
}
