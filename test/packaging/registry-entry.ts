/**
 * The rules of the MCP registry's server.json, schema 2025-12-11, with what its publishing service asks of npm
 * packages on top, as far as this project's file can touch them.
 */

export const SCHEMA_URL = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

type Rule = (value: unknown, at: string) => readonly string[];

function text(limits: { least?: number; most?: number; pattern?: RegExp; oneOf?: readonly string[] } = {}): Rule {
  return (value, at) => {
    if (typeof value !== "string") return [`${at} must be text`];
    const problems: string[] = [];
    if (value.length < (limits.least ?? 0)) problems.push(`${at} is too short`);
    if (value.length > (limits.most ?? Number.POSITIVE_INFINITY)) problems.push(`${at} is longer than ${limits.most}`);
    if (limits.pattern && !limits.pattern.test(value)) problems.push(`${at} does not match ${limits.pattern}`);
    if (limits.oneOf && !limits.oneOf.includes(value)) problems.push(`${at} must be one of ${limits.oneOf.join(", ")}`);
    return problems;
  };
}

const flag: Rule = (value, at) => (typeof value === "boolean" ? [] : [`${at} must be true or false`]);
const url: Rule = (value, at) => (typeof value === "string" && URL.canParse(value) ? [] : [`${at} must be a URL`]);

function list(rule: Rule): Rule {
  return (value, at) =>
    Array.isArray(value) ? value.flatMap((item, index) => rule(item, `${at}[${index}]`)) : [`${at} must be a list`];
}

/** The schema lets unknown keys pass; here they are refused, because each would be a typing error of ours. */
function object(rules: Readonly<Record<string, Rule>>, required: readonly string[] = []): Rule {
  return (value, at) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${at} must be an object`];
    const missing = required.filter((key) => !(key in value)).map((key) => `${at}.${key} is missing`);
    const rest = Object.entries(value).flatMap(([key, item]) => {
      const rule = rules[key];
      return rule === undefined ? [`${at}.${key} is not known`] : rule(item, `${at}.${key}`);
    });
    return [...missing, ...rest];
  };
}

const exactVersion: Rule = (value, at) => [
  ...text({ least: 1, most: 255 })(value, at),
  ...(/^(latest$|[\^~><=v])|[*|]|\bx\b| - /.test(String(value)) ? [`${at} must be one exact version`] : []),
];

const input = {
  choices: list(text()),
  default: text(),
  description: text(),
  format: text({ oneOf: ["string", "number", "boolean", "filepath"] }),
  isRequired: flag,
  isSecret: flag,
  placeholder: text(),
  value: text(),
};

const keyValue = object({ ...input, name: text({ least: 1 }) }, ["name"]);

const transport: Rule = (value, at) => {
  const type = text({ oneOf: ["stdio", "streamable-http", "sse"] });
  const endpoint = text({ pattern: /^https?:\/\/[^\s]+$/ });
  const isStdio = typeof value === "object" && value !== null && "type" in value && value.type === "stdio";
  const rules = isStdio ? { type } : { type, url: endpoint, headers: list(keyValue) };
  return object(rules, Object.keys(rules).slice(0, isStdio ? 1 : 2))(value, at);
};

const argument: Rule = (value, at) => {
  const named = object({ ...input, type: text({ oneOf: ["named"] }), name: text(), isRepeated: flag }, [
    "type",
    "name",
  ]);
  const positional = object({ ...input, type: text({ oneOf: ["positional"] }), valueHint: text(), isRepeated: flag }, [
    "type",
  ]);
  const isNamed = typeof value === "object" && value !== null && "type" in value && value.type === "named";
  const hasValue = typeof value === "object" && value !== null && ("value" in value || "valueHint" in value);
  return isNamed
    ? named(value, at)
    : [...positional(value, at), ...(hasValue ? [] : [`${at} needs value or valueHint`])];
};

const npmPackage = object(
  {
    registryType: text({ oneOf: ["npm"] }),
    identifier: text({ least: 1 }),
    version: exactVersion,
    runtimeHint: text(),
    transport,
    runtimeArguments: list(argument),
    packageArguments: list(argument),
    environmentVariables: list(keyValue),
  },
  ["registryType", "identifier", "version", "transport"],
);

const server = object(
  {
    $schema: text({ oneOf: [SCHEMA_URL] }),
    name: text({ least: 3, most: 200, pattern: /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/ }),
    title: text({ least: 1, most: 100 }),
    description: text({ least: 1, most: 100 }),
    version: exactVersion,
    websiteUrl: url,
    repository: object({ url, source: text(), id: text(), subfolder: text() }, ["url", "source"]),
    packages: list(npmPackage),
    remotes: list(transport),
  },
  ["$schema", "name", "description", "version"],
);

/** Returns what is wrong with a server.json; an empty list when nothing is. */
export function registryProblems(value: unknown): readonly string[] {
  return server(value, "server");
}
