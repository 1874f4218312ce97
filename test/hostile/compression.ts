/** OTLP over HTTP: compressed bodies that are cut, damaged, nested, or far larger than they look. */
import { constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { good, MiB, protobuf } from './bodies.ts';
import { malformed, refused, taken, tooLarge, type HostileCase, type Send } from './case.ts';
import { asProtobuf, post } from './senders.ts';

/** Beyond what a body may inflate to. */
const zeros = Buffer.alloc(65 * MiB);
const skippable = Buffer.from('502a4d1804000000deadbeef', 'hex');
const bodyOf = (trace: string): Buffer => protobuf(good(trace));
const coded =
  (coding: string, encode: (body: Buffer) => Buffer) =>
  (trace: string): Send =>
    post(encode(bodyOf(trace)), { headers: { ...asProtobuf, 'content-encoding': coding } });
const bomb = (coding: string, encode: (body: Buffer) => Buffer) => (): Send =>
  post(encode(zeros), { headers: { ...asProtobuf, 'content-encoding': coding } });
const good1 = taken(1, { runs: 1 });
const damagedAt = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8((at + copy.length) % copy.length) ^ 0xff, (at + copy.length) % copy.length);
  return copy;
};
const broken = (coding: string): ReturnType<typeof malformed> => malformed(new RegExp(`${coding} data is broken`));
const unknownCoding = refused(415, 'otlp_encoding', /Content-Encoding is not/);

export const compression: readonly HostileCase[] = [
  { name: 'gzip that inflates beyond the limit', prepare: bomb('gzip', gzipSync), want: tooLarge(/inflates to more than 67108864 bytes/) },
  { name: 'deflate that inflates beyond the limit', prepare: bomb('deflate', deflateSync), want: tooLarge(/inflates to more than/) },
  { name: 'zstd that inflates beyond the limit', prepare: bomb('zstd', zstdCompressSync), want: tooLarge(/inflates to more than/) },
  {
    name: 'sixty-six gzip members of a mebibyte each',
    prepare: () =>
      post(Buffer.concat(Array.from({ length: 66 }, () => gzipSync(Buffer.alloc(MiB)))), {
        headers: { ...asProtobuf, 'content-encoding': 'gzip' },
      }),
    want: tooLarge(/inflates to more than/),
  },
  { name: 'gzip in gzip', prepare: coded('gzip', (body) => gzipSync(gzipSync(body))), want: malformed() },
  { name: 'gzip in gzip, announced', prepare: coded('gzip, gzip', (body) => gzipSync(gzipSync(body))), want: unknownCoding },
  { name: 'an unknown coding', prepare: coded('br', (body) => body), want: unknownCoding },
  { name: 'gzip that is plain', prepare: coded('gzip', (body) => body), want: broken('gzip') },
  { name: 'gzip that is zstd', prepare: coded('gzip', zstdCompressSync), want: broken('gzip') },
  { name: 'zstd that is gzip', prepare: coded('zstd', gzipSync), want: broken('zstd') },
  { name: 'deflate without its head', prepare: coded('deflate', deflateRawSync), want: broken('deflate') },
  {
    name: 'deflate with a dictionary',
    prepare: coded('deflate', (body) => deflateSync(body, { dictionary: Buffer.from('invoke_agent') })),
    want: broken('deflate'),
  },
  { name: 'gzip with a wrong magic number', prepare: coded('gzip', (body) => damagedAt(gzipSync(body), 0)), want: broken('gzip') },
  { name: 'gzip with a wrong checksum', prepare: coded('gzip', (body) => damagedAt(gzipSync(body), -6)), want: broken('gzip') },
  { name: 'gzip with a wrong length', prepare: coded('gzip', (body) => damagedAt(gzipSync(body), -1)), want: broken('gzip') },
  { name: 'gzip without its last byte', prepare: coded('gzip', (body) => gzipSync(body).subarray(0, -1)), want: broken('gzip') },
  {
    name: 'gzip with noise behind it',
    prepare: coded('gzip', (body) => Buffer.concat([gzipSync(body), Buffer.alloc(1_000, 7)])),
    want: malformed(/gzip data/),
  },
  {
    name: 'gzip with zeros behind it',
    prepare: coded('gzip', (body) => Buffer.concat([gzipSync(body), Buffer.alloc(100)])),
    want: malformed(/gzip data/),
  },
  {
    name: 'gzip whose file name never ends',
    prepare: () =>
      post(Buffer.concat([Buffer.from('1f8b08080000000000ff', 'hex'), Buffer.alloc(MiB, 'a')]), {
        headers: { ...asProtobuf, 'content-encoding': 'gzip' },
      }),
    want: broken('gzip'),
  },
  {
    name: 'a thousand empty gzip members before the body',
    prepare: coded('gzip', (body) => Buffer.concat([...Array.from({ length: 1_000 }, () => gzipSync(Buffer.alloc(0))), gzipSync(body)])),
    want: good1,
  },
  {
    name: 'gzip of nothing',
    prepare: () => post(gzipSync(Buffer.alloc(0)), { headers: { ...asProtobuf, 'content-encoding': 'gzip' } }),
    want: taken(0),
  },
  {
    name: 'zstd with a wrong checksum',
    prepare: coded('zstd', (body) => damagedAt(zstdCompressSync(body, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }), -1)),
    want: broken('zstd'),
  },
  {
    name: 'zstd of several frames',
    prepare: coded('zstd', (body) => Buffer.concat([skippable, skippable, zstdCompressSync(body)])),
    want: malformed(/zstd data/),
  },
  { name: 'zstd without its last byte', prepare: coded('zstd', (body) => zstdCompressSync(body).subarray(0, -1)), want: broken('zstd') },
];
