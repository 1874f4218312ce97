/** How what is kept is compressed. */
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, type ZstdOptions } from 'node:zlib';

/** On runs of a few kilobytes the default level takes four times as long and saves two bytes in a hundred. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 };

const elsewhere = promisify(zstdCompress);

/** The compressor makes room for whatever may come, and that takes longer than compressing a few kilobytes, unless it is told how much will. */
function optionsFor(bytes: Uint8Array): ZstdOptions {
  return { params, pledgedSrcSize: bytes.byteLength };
}

/** In memory of its own: what the compressor gives lies in a larger piece, of which all would be kept. */
export function compressed(whole: Uint8Array | string): Buffer {
  const bytes = typeof whole === 'string' ? Buffer.from(whole) : whole;
  const lent = zstdCompressSync(bytes, optionsFor(bytes));
  const own = Buffer.allocUnsafeSlow(lent.length);
  lent.copy(own);
  return own;
}

/** The same beside the thread that asks. */
export function compressedBeside(whole: Uint8Array): Promise<Buffer> {
  return elsewhere(whole, optionsFor(whole));
}
