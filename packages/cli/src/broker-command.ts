import type { Command } from "commander";
import type { BrokerDefinitionsCommandOptions } from "./commands/broker-definitions.ts";

/** Adds `rockbot broker` and its commands. */
export function addBrokerCommand(program: Command): void {
  const broker = program.command("broker").description("Rule the broker: its users, and what each may do there.");

  broker
    .command("definitions")
    .description("Write what RabbitMQ imports, so that it grants what the policy does and nothing else.")
    .option("--policy <file>", "the policy; else POLICY_FILE")
    .option("--out <file>", "the file to write, readable by you alone; what is in the way is replaced unless others can read it")
    .option("--vhost <name>", "the virtual host (default /)")
    .addHelpText(
      "after",
      `
Examples:
  rockbot broker definitions --policy policy.yaml --out broker-definitions.json
  rabbitmqctl import_definitions broker-definitions.json

Passwords come from the environment: ROCKBOT_PASSWORD_{USER} for the user, in capitals and with _ for -, or the path of a
file that holds it in ROCKBOT_PASSWORD_{USER}_FILE. The file holds their hashes: keep it as you keep them, and commit
neither. Importing it again adds and changes users; a user that the policy no longer names stays until it is deleted.`,
    )
    .action(async (options: BrokerDefinitionsCommandOptions) => (await import("./commands/broker-definitions.ts")).writeBrokerDefinitions(options));
}
