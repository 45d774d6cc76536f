import { Argument, type Command } from "commander";
import type { Shell } from "../completion/completion-script.ts";

/** Adds `rockbot completion`. */
export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("Print a completion script for a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      `
Examples:
  rockbot completion bash > ~/.local/share/bash-completion/completions/rockbot
  rockbot completion zsh > ~/.zsh/completions/_rockbot       with this folder in fpath; or: source <(rockbot completion zsh)
  rockbot completion fish > ~/.config/fish/completions/rockbot.fish

The script completes commands, options, files, and the names of tools, services and guides. The running "rockbot up"
gives the names; if it does not answer within 300 ms, the script has those of RockBot's own tools and services.`,
    )
    .action(async (shell: Shell) => (await import("../commands/completion.ts")).printCompletion(shell, program));
}
