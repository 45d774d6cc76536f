import { dirname } from "node:path";
import { policyUsers } from "../broker/policy-users.ts";
import { CommandError } from "../command-error.ts";
import { checkFolders } from "../compose/check-folders.ts";
import { composeSecrets, keepSecrets, readSecrets } from "../compose/compose-secrets.ts";
import { handOutSecrets } from "../compose/hand-out-secrets.ts";
import { UsageError } from "../usage-error.ts";

export interface ComposeInitOptions {
  readonly policy: string;
  readonly file: string;
  readonly from?: string;
  readonly out?: string;
  readonly folders?: string;
}

const COMMENT = `# The secrets of docker-compose.yml, made by rockbot compose init. The next docker compose up takes them over.
# Keys from elsewhere belong here, too, such as MODEL_API_KEY: docs/operate/compose.md names them.
`;

/** `rockbot compose init`: makes the missing secrets, and writes them for each service if it gets folders. */
export async function initCompose({ policy, file, from, out, folders }: ComposeInitOptions): Promise<void> {
  if (from !== undefined && folders !== undefined) checkFolders(dirname(from), folders, process.env);
  const { users } = await policyUsers(policy);
  const names = users.map(({ user }) => user);
  const secrets = await composeSecrets(from === undefined ? [file] : [file, from], names);
  if (out === undefined && (await readSecrets(file)).size > 0)
    throw new CommandError(`Cannot write ${file}: it has secrets already. Change them there, or remove it`);
  await keepSecrets(file, secrets, names, out === undefined ? COMMENT : "");
  if (out !== undefined) await handOutSecrets(out, secrets, users);
  console.error(
    out === undefined
      ? `${file} has ${secrets.size} secrets. Only you can read it`
      : `${users.length} users have their secrets`,
  );
}

/** `rockbot compose secret NAME`: prints one. */
export async function printSecret(name: string, { file }: { readonly file: string }): Promise<void> {
  const secrets = await readSecrets(file);
  const value = secrets.get(name);
  if (value === undefined)
    throw new UsageError([
      `${name}: no such secret in ${file}. There are: ${[...secrets.keys()].join(", ") || "none"}`,
    ]);
  console.log(value);
}
