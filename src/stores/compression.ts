/** How what is kept is compressed. */
import { constants, type ZstdOptions } from 'node:zlib';

/** On runs of a few kilobytes the default level takes four times as long and saves two bytes in a hundred. */
export const fastZstd: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
