const inServersFile = "it stands in the file that mcpConfig of mcp-bridge names";
const inModelsFile = "it stands in the file that modelBehaviors of agent names";
const ofServers = ["mcp", "mcpServers", "servers", "queues", "defaults", "toolTimeout", "traceMCP"];

/**
 * Names of settings, and of parts of files, that the programs have which this system comes from: where what they say is
 * said here.
 */
export const elsewhere: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ofServers.map((name) => [name, inServersFile])),
  toolResponseMaxBytes: `${inServersFile}. For all other tools it is chunkingThreshold, and ${inModelsFile}`,
  mcpInitConcurrency: "it is initConcurrency of mcp-bridge",
  modelBehaviors: inModelsFile,
  toolResultChunkingThreshold: inModelsFile,
  endpoints: "it stands in the file that restConfig of rest-tools names",
  apiKey: "that of the search is braveApiKey of web-tools, that of OpenRouter openrouterApiKey of openrouter-mcp",
  apiKeyEnvVar: "the variable is BRAVE_API_KEY",
  router: "it is destinations of an agent, in the file that agentsFile of agent names",
};
