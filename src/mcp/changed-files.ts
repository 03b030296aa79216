import type { ContentBlock } from "@modelcontextprotocol/server";
import * as z from "zod";
import { absolutePath, type ChangedFile, type ChangedFiles, MAX_CHANGED } from "../core/changed-files.ts";
import { mimeTypeOfName } from "../core/media.ts";
import type { Block } from "../core/session.ts";
import { shownPath, wellFormed } from "../render/index.ts";
import { fileUri } from "./uris.ts";

/** How many files of one reply have links; the text and the structured content name more. */
const MAX_LINKS = 10;

/** The fields of a block's facts that tell its files. */
export const filesOutput = {
  files: z
    .array(
      z.object({
        path: z.string().describe("Relative to the folder in which the code began, or absolute"),
        size: z.int().describe("Bytes"),
        uri: z.string().describe("The resource that holds the file"),
      }),
    )
    .optional()
    .describe("Files that were made or changed in the working folder while the code ran"),
  more_files: z.int().optional().describe("How many more there were than files names"),
};

/** What `filesOutput` describes, of at most so many files; nothing for a block that left none. */
export function fileFacts(id: string, { files }: Block, max = MAX_CHANGED): Record<string, unknown> {
  if (!files) return {};
  const named = files.changed.slice(0, max).map((file) => ({
    path: wellFormed(file.path),
    size: file.size,
    uri: uriOf(id, files, file),
  }));
  const more = files.more + files.changed.length - named.length;
  return { files: named, ...(more > 0 ? { more_files: more } : {}) };
}

/** One link for each file of the blocks, the last state of each, up to a limit. */
export function fileLinks(id: string, entries: readonly { readonly block: Block }[]): ContentBlock[] {
  const links = new Map<string, ContentBlock>();
  for (const { block } of entries) {
    const { files } = block;
    if (!files) continue;
    for (const file of files.changed) {
      const uri = uriOf(id, files, file);
      links.set(uri, linkTo(uri, file));
    }
  }
  return [...links.values()].slice(0, MAX_LINKS);
}

function linkTo(uri: string, { path, size }: ChangedFile): ContentBlock {
  const name = shownPath(path.slice(path.lastIndexOf("/") + 1));
  return { type: "resource_link", uri, name, mimeType: mimeTypeOfName(path), size };
}

function uriOf(id: string, { folder }: ChangedFiles, file: ChangedFile): string {
  return fileUri(id, absolutePath(folder, file));
}
