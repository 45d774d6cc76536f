import { run } from "./run.ts";

// A reader that reads less than we write, such as `head`, has had enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
process.exitCode = await run(process.argv.slice(2));
