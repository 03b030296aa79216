import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  type InputRequests,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type FixtureTools, text } from "./fixture.ts";

/**
 * Tools that need an answer of the user, of the client's model, or of the client. Each is written once: a 2026 client gets
 * an `input_required` result and calls again, a 2025 client gets a request of the server while the call waits.
 */

type Round = { readonly step: number };

const KEY_BYTES = 32;

/** Seals the state that travels through the client. */
export const roundState = createRequestStateCodec<Round>({ key: new Uint8Array(KEY_BYTES).fill(7) });

function ask(message: string, properties: Record<string, unknown>, required: readonly string[] = []): InputRequest {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties, required: [...required] } as never,
  });
}

function askText(message: string, name: string): InputRequest {
  return ask(message, { [name]: { type: "string" } }, [name]);
}

function askModel(prompt: string, maxTokens: number): InputRequest {
  return inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens,
  });
}

/** The text the client's model answered; undefined when the client has not sent one. */
function modelText({ mcpReq }: ServerContext, key: string): string | undefined {
  const answer = inputResponse(mcpReq.inputResponses, key);
  if (answer.kind !== "sampling") return undefined;
  const content = [answer.result.content].flat()[0];
  return content?.type === "text" ? content.text : "";
}

function userText({ mcpReq }: ServerContext, key: string, name: string): string | undefined {
  const value = acceptedContent(mcpReq.inputResponses, key)?.[name];
  return typeof value === "string" ? value : undefined;
}

function rootsOf({ mcpReq }: ServerContext, key: string): string | undefined {
  const answer = inputResponse(mcpReq.inputResponses, key);
  return answer.kind === "roots" ? answer.roots.map(({ uri }) => uri).join(", ") : undefined;
}

/** Asks the user with `properties` and says what came back. */
function elicitation(message: string, properties: Record<string, unknown>, said: string): FixtureTools[string]["run"] {
  return (_args, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "answer");
    if (answer.kind !== "elicit") return inputRequired({ inputRequests: { answer: ask(message, properties) } });
    return text(`${said}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
  };
}

const titled = (...names: [string, string][]) => names.map(([value, title]) => ({ const: value, title }));
const THREE = ["option1", "option2", "option3"];

/** The scenarios of the 2025 revisions, where the server asks while the call waits. */
export const requestTools: FixtureTools = {
  test_sampling: {
    description: "Asks the client's model",
    inputSchema: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    run({ prompt }, context) {
      const answer = modelText(context, "answer");
      if (answer === undefined) return inputRequired({ inputRequests: { answer: askModel(String(prompt), 100) } });
      return text(`LLM response: ${answer}`);
    },
  },
  test_elicitation: {
    description: "Asks the user for a name and an address",
    inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    run({ message }, { mcpReq }) {
      const answer = inputResponse(mcpReq.inputResponses, "answer");
      if (answer.kind === "elicit") {
        return text(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
      }
      const properties = {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      };
      return inputRequired({ inputRequests: { answer: ask(String(message), properties, ["username", "email"]) } });
    },
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks the user with a default for each kind of field",
    run: elicitation(
      "Review the values",
      {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
      "Elicitation completed",
    ),
  },
  test_elicitation_sep1330_enums: {
    description: "Asks the user with each kind of choice",
    run: elicitation(
      "Choose",
      {
        untitledSingle: { type: "string", enum: THREE },
        titledSingle: {
          type: "string",
          oneOf: titled(["value1", "First Option"], ["value2", "Second Option"], ["value3", "Third Option"]),
        },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: THREE } },
        titledMulti: {
          type: "array",
          items: { anyOf: titled(["value1", "First Choice"], ["value2", "Second Choice"], ["value3", "Third Choice"]) },
        },
      },
      "Elicitation completed",
    ),
  },
};

/** The scenarios of 2026-07-28, where the result says what is still needed. */
export const inputRequiredTools: FixtureTools = {
  test_input_required_result_elicitation: {
    description: "Needs the user's name",
    run: (_args, context) => greet(context),
  },
  test_streaming_elicitation: {
    description: "Needs the user's name, on a response stream",
    run: (_args, context) => greet(context),
  },
  test_input_required_result_sampling: {
    description: "Needs an answer of the client's model",
    run(_args, context) {
      const answer = modelText(context, "capital_question");
      if (answer !== undefined) return text(answer);
      return inputRequired({ inputRequests: { capital_question: askModel("What is the capital of France?", 100) } });
    },
  },
  test_missing_capability: {
    description: "Needs a client that can ask a model",
    run(_args, context) {
      const answer = modelText(context, "answer");
      return answer === undefined ? inputRequired({ inputRequests: { answer: askModel("Hello", 10) } }) : text(answer);
    },
  },
  test_input_required_result_list_roots: {
    description: "Needs the client's roots",
    run(_args, context) {
      const roots = rootsOf(context, "client_roots");
      if (roots !== undefined) return text(`Roots: ${roots}`);
      return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
  },
  test_input_required_result_request_state: {
    description: "Needs a confirmation and its own state back",
    run: (_args, context) => confirm(context),
  },
  test_input_required_result_tampered_state: {
    description: "Refuses state that it did not make",
    run: (_args, context) => confirm(context),
  },
  test_input_required_result_multiple_inputs: {
    description: "Needs three answers at once",
    async run(_args, context) {
      const name = userText(context, "user_name", "name");
      const greeting = modelText(context, "greeting");
      const roots = rootsOf(context, "client_roots");
      if (name !== undefined && greeting !== undefined && roots !== undefined) {
        return text(`${greeting} ${name}, roots: ${roots}`);
      }
      const inputRequests = {
        user_name: askText("What is your name?", "name"),
        greeting: askModel("Generate a greeting", 50),
        client_roots: inputRequired.listRoots(),
      };
      return inputRequired({ inputRequests, requestState: await roundState.mint({ step: 1 }) });
    },
  },
  test_input_required_result_multi_round: {
    description: "Needs two answers, one after the other",
    async run(_args, context) {
      const step = context.mcpReq.requestState<Round>()?.step ?? 0;
      if (step === 2 && userText(context, "step2", "color") !== undefined) return text("Both steps are done");
      const second = step === 1 && userText(context, "step1", "name") !== undefined;
      const inputRequests: InputRequests = second
        ? { step2: askText("Step 2: What is your favorite color?", "color") }
        : { step1: askText("Step 1: What is your name?", "name") };
      return inputRequired({ inputRequests, requestState: await roundState.mint({ step: second ? 2 : 1 }) });
    },
  },
  test_input_required_result_capabilities: {
    description: "Asks only what the client says it can answer",
    run(_args, { mcpReq }) {
      const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
      const able = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
      const inputRequests: InputRequests = {
        ...(able.sampling ? { model: askModel("Hello", 10) } : {}),
        ...(able.elicitation ? { user: askText("What is your name?", "name") } : {}),
      };
      const asked = Object.keys(inputRequests);
      if (asked.length === 0 || asked.every((key) => mcpReq.inputResponses?.[key])) return text("Nothing is needed");
      return inputRequired({ inputRequests });
    },
  },
};

function greet(context: ServerContext) {
  const name = userText(context, "user_name", "name");
  if (name !== undefined) return text(`Hello, ${name}!`);
  return inputRequired({ inputRequests: { user_name: askText("What is your name?", "name") } });
}

async function confirm(context: ServerContext) {
  const answered = acceptedContent(context.mcpReq.inputResponses, "confirm")?.ok !== undefined;
  if (answered && context.mcpReq.requestState<Round>()?.step === 1) return text("state-ok");
  const inputRequests = { confirm: ask("Please confirm", { ok: { type: "boolean" } }, ["ok"]) };
  return inputRequired({ inputRequests, requestState: await roundState.mint({ step: 1 }) });
}
