import { type ReadResourceResult, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { PNG } from "./fixtures-samples.ts";

export const RESOURCES = [
  { uri: "test://static-text", name: "static-text", description: "A text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "static-binary", description: "A picture", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "watched", description: "A text to subscribe to", mimeType: "text/plain" },
];

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "template",
    description: "Data of one id",
    mimeType: "application/json",
  },
];

const CONTENTS: Readonly<Record<string, { mimeType: string; text: string } | { mimeType: string; blob: string }>> = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "Nothing has changed yet." },
};

/** @throws ResourceNotFoundError for any other URI. */
export function readFixture(uri: string): ReadResourceResult {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  if (id !== undefined) {
    const json = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: "application/json", text: json }] };
  }
  const content = CONTENTS[uri];
  if (!content) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, ...content }] };
}
