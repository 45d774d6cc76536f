import { brokerDefinitions } from "@rockbot/bus-rabbitmq";
import { counted } from "@rockbot/contracts";
import { policyUsers, UNVERIFIED } from "../broker/policy-users.ts";
import { readPasswords } from "../broker/read-passwords.ts";
import { writePrivateFile } from "../broker/write-private-file.ts";
import { UsageError } from "../usage-error.ts";

export interface BrokerDefinitionsCommandOptions {
  readonly policy?: string;
  readonly out?: string;
  readonly vhost?: string;
}

/** `rockbot broker definitions`: the users of the policy, with their rights, as a file that RabbitMQ imports. */
export async function writeBrokerDefinitions({
  policy: option,
  out,
  vhost = "/",
}: BrokerDefinitionsCommandOptions): Promise<void> {
  const file = option ?? (process.env["POLICY_FILE"] || undefined);
  const faults = [
    ...(file === undefined ? ["--policy: missing, and POLICY_FILE is not set. The policy says who the users are"] : []),
    ...(out === undefined ? ["--out: missing. Say which file to write"] : []),
    ...(vhost === "" ? ["--vhost: expected a name"] : []),
  ];
  if (file === undefined || out === undefined || faults.length > 0) throw new UsageError(faults);

  const { users, isVerified } = await policyUsers(file);
  const passwords = await readPasswords(
    users.map(({ user }) => user),
    process.env,
  );
  await writePrivateFile(out, `${JSON.stringify(brokerDefinitions(users, { passwords, vhost }), undefined, 2)}\n`);
  console.error(`${counted(users.length, "user")}: ${users.map(({ user }) => user).join(", ")}`);
  if (!isVerified) console.error(UNVERIFIED);
}
