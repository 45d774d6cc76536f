import { saidBy, ToolError, ToolErrorCode, withTrust } from "@rockbot/contracts";
import { type FileStore, HANDLE_PATTERN, handlesIn, MAX_FILES_PER_CALL, noSuchFile } from "@rockbot/records/files";
import type { CallFiles } from "../define/call-files.ts";
import type { ToolLayer } from "../define/tool-executor.ts";

/** The keys of files that a call names, as a header has them: `handle=key` with commas between. */
export type FileKeys = string;

/** True for a tool whose schema has an argument that is a handle. */
export const takesFiles = (parametersSchema: string): boolean => parametersSchema.includes(`"${HANDLE_PATTERN}"`);

/**
 * Gives tools the files that their calls name, each by the key that came with the call. The answer of a tool that has
 * opened an untrusted file is untrusted, and so is its error.
 */
export const files =
  (store: FileStore | undefined): ToolLayer =>
  (next) => ({
    async execute(request, context) {
      if (store === undefined) return next.execute(request, context);
      const { caller, fileKeys } = context;
      let opened: string | undefined;
      const given: CallFiles = {
        async open(handle) {
          if (fileKeys === undefined) throw keyless(handle);
          const key = new Map(fileKeys.split(",").map((pair) => pair.split("=") as [string, string])).get(handle);
          if (key === undefined) throw noSuchFile(handle);
          const file = await store.open({ owner: caller, handle, key });
          if (!file.facts.isUntrusted) return file;
          if (context.hasReadUntrusted !== true) throw unmarked(request.toolName, handle);
          opened = file.facts.name;
          return file;
        },
        leave(file) {
          context.onFileLeft?.();
          const isUntrusted = file.isUntrusted === true || context.hasReadUntrusted === true;
          return store.put(caller, { ...file, isUntrusted });
        },
      };
      try {
        const response = await next.execute(request, { ...context, files: given });
        if (opened === undefined || response.trust != null) return response;
        return { ...response, trust: saidBy(`the file ${opened}`) };
      } catch (error) {
        if (opened === undefined || !(error instanceof ToolError) || error.trust !== undefined) throw error;
        throw withTrust(error, saidBy(`the file ${opened}`));
      }
    },
  });

/**
 * Finds the keys of the files that a call names, on the calling side.
 * @throws {ToolError} `invalid_arguments` if the caller has one of them not, `unavailable`
 */
export async function fileKeysFor(
  store: FileStore,
  caller: string,
  args: string,
): Promise<{ readonly fileKeys: FileKeys; readonly hasReadUntrusted: boolean } | undefined> {
  const handles = handlesIn(args);
  if (handles.length === 0) return undefined;
  if (handles.length > MAX_FILES_PER_CALL)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot make the call: it names ${handles.length} files, and may name ${MAX_FILES_PER_CALL}. Name fewer`,
      { details: { reason: "file_count" } },
    );
  const found = await Promise.all(
    handles.map(async (handle) => {
      const file = await store.find(caller, handle);
      if (file === undefined) throw noSuchFile(handle);
      return file;
    }),
  );
  return {
    fileKeys: found.map(({ handle, key }) => `${handle}=${key}`).join(","),
    hasReadUntrusted: found.some(({ isUntrusted }) => isUntrusted),
  };
}

const keyless = (handle: string): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot use ${handle}: the call came from where no files can be named, such as a script or a schedule. Make the call itself, or do without the file`,
    { details: { reason: "no_such_file" } },
  );

const unmarked = (toolName: string, handle: string): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `"${toolName}" was not given ${handle}: strangers wrote it, and the call does not say that it is made with what they wrote`,
    { details: { reason: "untrusted_file" } },
  );
