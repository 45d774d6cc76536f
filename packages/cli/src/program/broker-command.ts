import type { Command } from "commander";
import type { BrokerDefinitionsCommandOptions } from "../commands/broker-definitions.ts";

/** Adds `rockbot broker` and its commands. */
export function addBrokerCommand(program: Command): void {
  const broker = program.command("broker").description("Write the users and permissions of the broker.");

  broker
    .command("definitions")
    .description("Write a definitions file for RabbitMQ, which grants exactly what the policy grants.")
    .option("--policy <file>", "the policy file; default POLICY_FILE")
    .option("--out <file>", "the file to write, readable by you alone; replaces an existing file unless other users can read it")
    .option("--vhost <name>", "the virtual host (default /)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot broker definitions --policy policy.yaml --out broker-definitions.json
  rabbitmqctl import_definitions broker-definitions.json

Passwords come from the variables ROCKBOT_PASSWORD_{USER}, with the user in capitals and _ for -. A variable
ROCKBOT_PASSWORD_{USER}_FILE names a file with the password instead. The written file holds password hashes: keep it
secret, and do not commit it. A second import adds and changes users. It does not delete users that the policy no longer names.`,
    )
    .action(async (options: BrokerDefinitionsCommandOptions) => (await import("../commands/broker-definitions.ts")).writeBrokerDefinitions(options));
}
