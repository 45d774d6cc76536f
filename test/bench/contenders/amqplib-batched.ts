import { plainEcho } from "./plain-echo.ts";

export const { serve, connect } = plainEcho({ name: "bench-batched", isBatched: true });
