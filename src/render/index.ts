export { type CutText, cutText } from "./cut.ts";
export { shownPath } from "./files.ts";
export { type SplitStreams, splitStreams } from "./streams.ts";
export { parseTable, type Table, type TableResource, tableOf } from "./table.ts";
export { wellFormed } from "./text.ts";
export {
  type Entry,
  type ReplyOptions,
  renderOutput,
  renderReply,
  renderTranscript,
  type TranscriptOptions,
} from "./transcript.ts";
