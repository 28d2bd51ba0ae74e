/**
 * Cuts a byte stream into lines of JSON. Bytes may be split anywhere, inside a character too. Blank lines
 * (keep-alives) are left out. A line that is not JSON throws: the stream is then out of step.
 */
export class NdjsonDecoder {
  private readonly utf8 = new TextDecoder();
  private rest = '';

  push(bytes: Uint8Array): unknown[] {
    this.rest += this.utf8.decode(bytes, { stream: true });
    const lines = this.rest.split('\n');
    this.rest = lines.pop() ?? '';
    return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as unknown);
  }
}
