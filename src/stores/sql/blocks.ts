/**
 * Texts of several runs, compressed together: one call of the compressor for many runs, and text that runs share costs next to nothing. A block
 * goes when no run refers to it any more, by the triggers of its table.
 */
import { zstdDecompressSync } from 'node:zlib';

/** A block is full from this many bytes of text on. Reading one run decompresses its whole block. */
const blockBytes = 64 * 1024;
/** A character takes three bytes at most. */
const scratchBytes = 4 * blockBytes;
const bytesPerChar = 3;

/** Position of a text. */
export interface TextPlace {
  readonly block: number;
  /** Place in the decompressed block, in bytes; a text without a length is the whole. */
  readonly at: number;
  readonly length: number | null;
}

export interface BlockRow {
  readonly live: number;
  readonly body: Uint8Array;
}

/** `insert` resolves with the id of the row, whose body is plain. The place of each text, in their order. */
export async function writeBlocks(texts: readonly string[], insert: (row: BlockRow) => Promise<number>): Promise<readonly TextPlace[]> {
  const places: TextPlace[] = [];
  let scratch: Buffer | undefined;
  let open: { readonly at: number; readonly length: number }[] = [];
  let used = 0;
  const close = async (): Promise<void> => {
    if (scratch === undefined || open.length === 0) return;
    const block = await insert({ live: open.length, body: scratch.subarray(0, used) });
    places.push(...open.map((place) => ({ block, ...place })));
    open = [];
    used = 0;
  };
  for (const text of texts) {
    if (used >= blockBytes || used + text.length * bytesPerChar > scratchBytes) await close();
    if (text.length * bytesPerChar > scratchBytes) {
      places.push({ block: await insert({ live: 1, body: Buffer.from(text) }), at: 0, length: null });
      continue;
    }
    scratch ??= Buffer.allocUnsafeSlow(Math.min(scratchBytes, texts.reduce((sum, { length }) => sum + length, 0) * bytesPerChar));
    const length = scratch.write(text, used);
    open.push({ at: used, length });
    used += length;
  }
  await close();
  return places;
}

/** Most blocks fit into one piece of the output: joining many takes longer than decompressing them. */
const chunkSize = 2 * blockBytes;

const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd] as const;

/** The texts of a block, whether its body is compressed or plain. */
export function blockText(body: Uint8Array): Buffer {
  // A text of one run may be plain: it is JSON, and begins otherwise.
  return zstdMagic.every((byte, at) => body[at] === byte) ? zstdDecompressSync(body, { chunkSize }) : Buffer.from(body);
}

/** Reads texts of blocks, as an SQL function; the block that was read last is not decompressed again. */
export function blockReader(): (body: unknown, at: unknown, length: unknown) => string | null {
  let last: { readonly body: Buffer; readonly text: Buffer } | undefined;
  return (body, at, length) => {
    if (!(body instanceof Uint8Array)) return null;
    if (last?.body.equals(body) !== true) last = { body: Buffer.from(body), text: blockText(body) };
    return length === null ? last.text.toString() : last.text.toString('utf8', Number(at), Number(at) + Number(length));
  };
}
