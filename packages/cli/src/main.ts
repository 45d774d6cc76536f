import { ExitCode } from "./exit-code.ts";
import { run } from "./run.ts";

// A reader that reads less than we write, such as `head`, has had enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
const code = await run(process.argv.slice(2));
// What an interrupted command has left to itself, such as an attempt to connect, must not hold up its end.
if (code >= ExitCode.Interrupted) process.exit(code);
process.exitCode = code;
