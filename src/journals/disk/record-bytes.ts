/**
 * A record as bytes, little-endian:
 *
 *     0  version (1)     1  kind (0 traces, 1 logs, 2 done, 3 forwarded; 128 more: a copy; 64 more: with its origin)     2  received, epoch ms, float64
 *    10  three lengths, uint16: tenant, content type, content encoding
 *    16  the origin, float64, where the kind has one; then the three texts, UTF-8, then the body as received
 */
import { tenant } from '../../model/ids.ts';
import type { JournalRecord, Position } from '../journal.ts';

const version = 1;
const fixedBytes = 16;
const originBytes = 8;
const textBytesMax = 1024;
const kinds = ['traces', 'logs', 'done', 'forwarded'] as const;
const copyBit = 0x80;
const originBit = 0x40;

/** Everything before the body. Undefined: a text is longer than any that belongs there. */
export function recordHead(record: JournalRecord): Buffer | undefined {
  const texts = [record.tenant, record.contentType, record.contentEncoding].map((text) => Buffer.from(text));
  if (texts.some((text) => text.length > textBytesMax)) return undefined;
  const { origin } = record;
  const fixed = Buffer.alloc(fixedBytes + (origin === undefined ? 0 : originBytes));
  fixed.writeUInt8(version, 0);
  fixed.writeUInt8(kinds.indexOf(record.kind) + (record.isCopy === true ? copyBit : 0) + (origin === undefined ? 0 : originBit), 1);
  if (origin !== undefined) fixed.writeDoubleLE(origin, fixedBytes);
  fixed.writeDoubleLE(record.receivedMs, 2);
  texts.forEach((text, at) => fixed.writeUInt16LE(text.length, 10 + at * 2));
  return Buffer.concat([fixed, ...texts]);
}

/** The body is copied, so that the bytes that were read can be let go. Undefined when the bytes are not a record of this version. */
export function readRecord(bytes: Buffer): JournalRecord | undefined {
  if (bytes.length < fixedBytes || bytes[0] !== version) return undefined;
  const written = bytes.readUInt8(1);
  const kind = kinds[written & ~(copyBit | originBit)];
  const hasOrigin = (written & originBit) !== 0;
  const [tenantBytes, typeBytes, encodingBytes] = [bytes.readUInt16LE(10), bytes.readUInt16LE(12), bytes.readUInt16LE(14)];
  const tenantAt = fixedBytes + (hasOrigin ? originBytes : 0);
  const typeAt = tenantAt + tenantBytes;
  const encodingAt = typeAt + typeBytes;
  const bodyAt = encodingAt + encodingBytes;
  if (kind === undefined || bodyAt > bytes.length) return undefined;
  return {
    kind,
    ...((written & copyBit) === 0 ? {} : { isCopy: true }),
    ...(hasOrigin ? { origin: bytes.readDoubleLE(fixedBytes) as Position } : {}),
    tenant: tenant(bytes.toString('utf8', tenantAt, typeAt)),
    contentType: bytes.toString('utf8', typeAt, encodingAt),
    contentEncoding: bytes.toString('utf8', encodingAt, bodyAt),
    receivedMs: bytes.readDoubleLE(2),
    body: Buffer.from(bytes.subarray(bodyAt)),
  };
}
