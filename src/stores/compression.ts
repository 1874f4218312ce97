/** Compression of stored texts. */
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync, type ZstdOptions } from 'node:zlib';

/** On runs of a few kilobytes the default level takes four times as long and saves two bytes in a hundred. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 };
/** A small table finds as much in little, and takes less time to be made than little takes to be compressed. */
const paramsOfLittle = { ...params, [constants.ZSTD_c_hashLog]: 12 };
const littleBytes = 64 * 1024;
/** Size of the pieces that the compressor returns. */
const chunkBytesLeast = 4 * 1024;

const elsewhere = promisify(zstdCompress);

/** Without the size, the compressor reserves room for any size, which takes longer than compressing a few kilobytes. */
function optionsFor({ byteLength: bytes }: Uint8Array): ZstdOptions {
  return bytes <= littleBytes
    ? { params: paramsOfLittle, pledgedSrcSize: bytes, chunkSize: chunkBytesLeast }
    : { params, pledgedSrcSize: bytes };
}

/** Copies the result: the compressor returns a view of a larger piece, which would be kept whole. */
export function compressed(whole: Uint8Array): Buffer {
  return ownBytes(zstdCompressSync(whole, optionsFor(whole)));
}

/** The same beside the thread that asks. */
export function compressedBeside(whole: Uint8Array): Promise<Buffer> {
  return elsewhere(whole, optionsFor(whole));
}

/** Copies bytes uncompressed unless they are large: they leave the store again within a second, and compressing costs more than the pages. */
export function brief(text: string, asItIsBytesMax = littleBytes): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes.length > asItIsBytesMax ? compressed(bytes) : bytes;
}

const zstdMagic = [0x28, 0xb5, 0x2f, 0xfd];

/** Reads the input of `brief` again. */
export function briefText(kept: Uint8Array): string {
  const bytes = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength);
  return (isCompressed(bytes) ? zstdDecompressSync(bytes) : bytes).toString();
}

/** No JSON begins in this way. */
function isCompressed(bytes: Uint8Array): boolean {
  return zstdMagic.every((byte, at) => bytes[at] === byte);
}

function ownBytes(lent: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(lent.byteLength);
  own.set(lent);
  return own;
}
