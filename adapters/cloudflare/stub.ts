/**
 * What the Worker gets in place of modules that E2B's SDK loads for what we never ask it: building templates, colouring
 * their logs, and calling processes and files of a sandbox, which the backend does by itself (`alias` in wrangler.toml).
 * It saves a fifth of the bundle, and the Worker needs no `nodejs_compat`. The SDK's version is pinned, and the tests run
 * on this bundle.
 */
const same = (text: string): string => text;
const nothing = (): object => ({});

/** chalk, platform and Node's modules. */
export default { red: same, gray: same, dim: same, hex: () => same };

/** dockerfile-ast. */
export const DockerfileParser = undefined;

/** @bufbuild/protobuf and @connectrpc: clients are made with each sandbox, but no call of theirs. */
export const fileDesc = nothing;
export const serviceDesc = nothing;
export const file_google_protobuf_timestamp = {};
export const createConnectTransport = nothing;
export const createClient = nothing;
export const Code = {};
export class ConnectError extends Error {}
