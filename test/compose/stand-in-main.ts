/** One of the servers of test/every-tool/stand-ins.ts, named by its argument, on port 8490 of its container. */
import { standIns } from "../every-tool/stand-ins.ts";
import { listenEverywhere } from "./listen-everywhere.ts";

const { url } = await standIns[process.argv[2] as keyof typeof standIns]();
listenEverywhere(url);
