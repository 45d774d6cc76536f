import type { Command } from "commander";
import type { ComposeInitOptions } from "../commands/compose.ts";

/** Inside the image these variables say where the volume lies; in a clone the defaults do. */
const FILE = [
  "--file <file>",
  "the file with the secrets; default COMPOSE_SECRETS_FILE, or docker/secrets.env",
] as const;
const fileDefault = (): string => process.env["COMPOSE_SECRETS_FILE"] || "docker/secrets.env";

/** Adds `rockbot compose` and its commands. */
export function addComposeCommand(program: Command): void {
  const compose = program.command("compose").description("Make and show the secrets of docker-compose.yml.");

  compose
    .command("init")
    .description("Make up the passwords and tokens, and write them to a file that only you can read.")
    .option(...FILE)
    .option(
      "--policy <file>",
      "the policy file, whose users get passwords (default POLICY_FILE, or docker/policy/policy.yaml)",
    )
    .option("--from <file>", "secrets that count more than those of --file")
    .option("--out <folder>", "hand the secrets out into a folder for each service; docker-compose.yml does that")
    .option(
      "--folders <folder>",
      "check the folders that services get, and that nothing lies where --from is and nobody reads it; docker-compose.yml does that",
    )
    .addHelpText(
      "after",
      `
Examples:
  rockbot compose init                                          write docker/secrets.env
  docker compose up --build --wait                              start everything

docker compose up makes up all secrets itself when there is no such file. Write the file to choose them, or to add keys such as BRAVE_API_KEY.`,
    )
    .action(async (options: Partial<ComposeInitOptions>) => {
      const policy = options.policy ?? (process.env["POLICY_FILE"] || "docker/policy/policy.yaml");
      await (await import("../commands/compose.ts")).initCompose({
        ...options,
        policy,
        file: options.file ?? fileDefault(),
      });
    });

  compose
    .command("secret")
    .description("Print one secret, such as ROCKBOT_GATEWAY_TOKEN.")
    .argument("<name>", "its name in the file")
    .option(...FILE)
    .addHelpText(
      "after",
      `
Examples:
  docker compose run --rm init compose secret ROCKBOT_GATEWAY_TOKEN`,
    )
    .action(async (name: string, { file }: { readonly file?: string }) =>
      (await import("../commands/compose.ts")).printSecret(name, { file: file ?? fileDefault() }),
    );
}
