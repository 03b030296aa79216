/** Cuts a stream of bytes into lines of text: ends are `\n` or `\r`, broken UTF-8 becomes U+FFFD, long lines are cut. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  readonly #maxLength: number;
  #rest = "";

  /** @param maxLength Characters that are kept of a line. */
  constructor(onLine: (line: string) => void, maxLength: number) {
    this.#onLine = onLine;
    this.#maxLength = maxLength;
  }

  push(chunk: Uint8Array): void {
    const [first = "", ...others] = this.#decoder.decode(chunk, { stream: true }).split(/[\r\n]/);
    this.#append(first);
    for (const part of others) {
      this.#emit();
      this.#append(part);
    }
  }

  /** Gives out the last line when it has no end. */
  end(): void {
    this.#append(this.#decoder.decode());
    this.#emit();
  }

  #append(part: string): void {
    const room = this.#maxLength - this.#rest.length;
    if (room > 0) this.#rest += part.slice(0, room);
  }

  #emit(): void {
    const line = this.#rest.trimEnd();
    this.#rest = "";
    if (line !== "") this.#onLine(line);
  }
}
