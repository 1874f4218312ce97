/** Texts out of foreign bytes. */

/**
 * The text of a range. Bytes that are not UTF-8 become U+FFFD, each by itself, which takes ten times as long as reading good ones: where there
 * are many of them in a long text, whole pieces of it become one U+FFFD.
 */
export function utf8Text(bytes: Buffer, start: number, end: number): string {
  if (end - start <= pieceBytes) return bytes.toString('utf8', start, end);
  return goodText(bytes.subarray(start, end)) ?? inPieces(bytes, start, end);
}

function inPieces(bytes: Buffer, start: number, end: number): string {
  const pieces: string[] = [];
  let damaged = 0;
  for (let at = start; at < end;) {
    const behind = pieceEnd(bytes, Math.min(end, at + pieceBytes), end);
    const good = goodText(bytes.subarray(at, behind));
    if (good === undefined) damaged++;
    pieces.push(good ?? (damaged <= damagedPiecesMax ? bytes.toString('utf8', at, behind) : '\ufffd'));
    at = behind;
  }
  return pieces.join('');
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined, and soon so, where a byte is bad. */
function goodText(bytes: Buffer): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

const pieceBytes = 64 * 1024;
/** Some ten milliseconds of work. */
const damagedPiecesMax = 16;
/** A character has no more of them. */
const continuationsMax = 3;

/** A little further, where a character would be cut. */
function pieceEnd(bytes: Buffer, wanted: number, end: number): number {
  let at = wanted;
  while (at < end && at - wanted < continuationsMax && isContinuation(bytes[at] ?? 0)) at++;
  return at;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
