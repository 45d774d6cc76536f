// What strangers' tools and servers wait for, for operators.

export {
  APPROVALS_PATH,
  createApprovalsApp,
  MCP_PATH,
  REGISTRATIONS_PATH,
  REJECTIONS_PATH,
  REMOVALS_PATH,
} from "./approvals-app.ts";
