import {
  boundedTrust,
  type ContentTrust,
  type ToolDefinition,
  type ToolInvokeRequest,
  textResponse,
} from "@rockbot/contracts";
import type { ToolContext, ToolExecutor } from "./tool-executor.ts";

/**
 * A tool with what it promises. Runs its arguments as given: `serveTools` and the registry put the layers around it.
 */
export interface Tool {
  readonly definition: ToolDefinition;
  readonly executor: ToolExecutor;
  /**
   * True if a later execution of the same caller and `toolCallId` takes up one that was cut off, in any process, and
   * begins nothing twice. Then a call whose first execution is lost runs again, with `mayHaveBegun`, instead of ending
   * in `outcome_unknown`. It says nothing about two calls, and is not announced. @default false
   */
  readonly isResumable?: boolean | undefined;
  /**
   * For a resumable tool it tells whether a call that crashed its services again and again may be the cause. A call
   * that is not to blame, since it gets on from death to death, is delivered as if for the first time. @default each is
   * to blame
   */
  readonly isToBlame?: ((request: ToolInvokeRequest, caller: string) => Promise<boolean>) | undefined;
  /**
   * True if a call of a resumable tool waits until its deadline for a store of claims that is away, where others are
   * refused as `unavailable`. It fits calls that are reported as begun and that nobody waits for: the request stays
   * with the bus meanwhile. @default false
   */
  readonly waitsForClaims?: boolean | undefined;
  /**
   * True if its calls may ask people: they have `ask` and `begins`. A call that asks runs again from its beginning with
   * the answer. @default false
   */
  readonly asks?: boolean | undefined;
  /** Ends what a handle names, which a call of a tool that asks has noted, and which has ended without the tool. */
  readonly dropHandle?: ((handle: string) => Promise<void>) | undefined;
  /** True if its calls may leave their place among those that run at once: they have `withoutPlace`. @default false */
  readonly leavesPlace?: boolean | undefined;
}

/**
 * The context of a call, for the code of a tool. A tool hands it on as `parent`, unchanged, to the calls that it makes.
 * Such calls then share its deadline and its cancellation, and the policy can count how many calls led to them. It
 * also learns whether untrusted content did.
 */
export interface ToolCallContext
  extends Pick<
    ToolContext,
    | "caller"
    | "deadline"
    | "depth"
    | "files"
    | "grant"
    | "hasReadUntrusted"
    | "log"
    | "maxResultBytes"
    | "progress"
    | "sessionId"
  > {
  /** An AbortSignal, which the `deadline` layer gives to all that is inside it. */
  readonly signal: AbortSignal;
  /** The same whenever the call is delivered: a key for whatever must not happen twice, together with `caller`. */
  readonly toolCallId: string;
}

/** The context of a call, for the code of a tool that asks people, or whose work goes on elsewhere. */
export interface AskingCallContext extends ToolCallContext, Pick<ToolContext, "handle" | "withoutPlace"> {
  readonly ask: NonNullable<ToolContext["ask"]>;
  readonly canAsk: boolean;
  readonly begins: NonNullable<ToolContext["begins"]>;
  readonly noteHandle: NonNullable<ToolContext["noteHandle"]>;
}

/** The context of a call, for the code of a resumable tool. */
export interface ResumableCallContext
  extends ToolCallContext,
    Pick<ToolContext, "mayHaveBegun" | "withoutPlace" | "later"> {}

type ToolPromises = Pick<Tool, "isResumable" | "isToBlame" | "waitsForClaims" | "leavesPlace">;
type AskingPromises = Pick<Tool, "dropHandle" | "leavesPlace"> & { readonly asks: true };
type Run<Input, Output, Context> = (input: Input, context: Context) => Promise<string | ToolResult<Output>>;

/** The result of a tool. A string is the content alone. */
export interface ToolResult<Output> {
  /** The text that the model reads; null if there is only the value. */
  readonly content: string | null;
  /** The same as a value, described by the output schema. */
  readonly structured?: Output | undefined;
  /** The tool ran and reports a failure of its own. @default false */
  readonly isError?: boolean | undefined;
  /** Whose words it has: `saidBy` or `definedBy` those of others. @default our own */
  readonly trust?: ContentTrust | undefined;
}

/** Binds a definition to the function that does the work. The function gets arguments that passed the input schema. */
export function defineTool<Input, Output>(
  definition: ToolDefinition<Input, Output>,
  run: Run<Input, Output, ToolCallContext>,
): Tool;
export function defineTool<Input, Output>(
  definition: ToolDefinition<Input, Output>,
  run: Run<Input, Output, AskingCallContext>,
  options: AskingPromises,
): Tool;
export function defineTool<Input, Output>(
  definition: ToolDefinition<Input, Output>,
  run: Run<Input, Output, ResumableCallContext & AskingCallContext>,
  options: ToolPromises & AskingPromises,
): Tool;
export function defineTool<Input, Output>(
  definition: ToolDefinition<Input, Output>,
  run: Run<Input, Output, ResumableCallContext>,
  options: ToolPromises,
): Tool;
export function defineTool<Input, Output>(
  definition: ToolDefinition<Input, Output>,
  run: Run<Input, Output, ResumableCallContext & AskingCallContext>,
  {
    isResumable,
    isToBlame,
    waitsForClaims,
    leavesPlace,
    asks,
    dropHandle,
  }: ToolPromises & Pick<Tool, "asks" | "dropHandle"> = {},
): Tool {
  return {
    definition: definition as ToolDefinition,
    isResumable,
    isToBlame,
    waitsForClaims,
    leavesPlace,
    asks,
    dropHandle,
    executor: {
      async execute(request, context) {
        const result = await run(context.input as Input, context as ResumableCallContext & AskingCallContext);
        if (typeof result === "string") return textResponse(request, result);
        const { content, structured, isError = false, trust } = result;
        return textResponse(request, content, {
          isError,
          ...(structured === undefined ? {} : { structured: structured as Record<string, unknown> }),
          ...(trust == null ? {} : { trust: boundedTrust(trust) }),
        });
      },
    },
  };
}
