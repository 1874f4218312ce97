/** Recorded bodies with bytes changed: most are read in the process, one in a hundred is sent. None may do more than be read or refused. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { JuryError } from '../../src/model/errors.ts';
import { readLogs, readTraces } from '../../src/otlp/read/read.ts';
import { plainRecord, plainSpan } from '../otlp/plain.ts';
import { below, damaged, randomFrom, recordedBodies, type Body } from './mutations.ts';
import { post } from './senders.ts';
import type { Target } from './target.ts';

export interface Fuzzed {
  readonly accepted: number;
  readonly refused: number;
  /** The fault, the case, and the file that replays it. */
  readonly faults: readonly string[];
  /** Milliseconds of the processor, for one body. */
  readonly slowestMs: number;
}

/** A body of 40 KB that is damaged is read in a few milliseconds; a thousandfold shows work that grows too fast. */
const bodyMsMax = 2_000;
const sentEvery = 100;
const faultsMax = 20;

/** The same seed gives the same bodies. Case `n` is found again by running with its seed and `n` cases. */
export async function fuzz(
  target: Target | undefined,
  { cases, seed }: { readonly cases: number; readonly seed: number },
): Promise<Fuzzed> {
  const bodies = recordedBodies();
  const random = randomFrom(seed);
  const faults: string[] = [];
  let accepted = 0;
  let slowestMs = 0;
  for (let number = 1; number <= cases && faults.length < faultsMax; number++) {
    const from = bodies[below(random, bodies.length)];
    if (from === undefined) throw new Error('there are no recorded bodies');
    const body = { ...from, bytes: damaged(from, bodies, random) };
    const startedUs = process.threadCpuUsage();
    const read = readOrRefused(body);
    const { user, system } = process.threadCpuUsage(startedUs);
    slowestMs = Math.max(slowestMs, (user + system) / 1_000);
    if (read.items !== undefined) accepted++;
    const fault = read.fault ?? ((user + system) / 1_000 > bodyMsMax ? `it took ${(user + system) / 1_000} ms` : undefined);
    const sent = target === undefined || number % sentEvery !== 0 ? undefined : await sentFault(target, body, read.items);
    for (const why of [fault, sent])
      if (why !== undefined) faults.push(`${why} (seed ${seed}, case ${number}, ${kept(body, seed, number)})`);
  }
  return { accepted, refused: cases - accepted, faults, slowestMs };
}

/** Reads a file that a fault named once more. */
export function replay(path: string): string {
  const [, signal, encoding] = /\.(traces|logs)\.(json|protobuf)\.hex$/.exec(path) ?? [];
  if ((signal !== 'traces' && signal !== 'logs') || (encoding !== 'json' && encoding !== 'protobuf'))
    return `${path} is not named as a replay is`;
  const { items, fault } = readOrRefused({ name: path, signal, encoding, bytes: Buffer.from(readFileSync(path, 'utf8'), 'hex') });
  return fault ?? (items === undefined ? 'refused' : `${items.accepted} accepted, ${items.rejected} rejected`);
}

interface Items {
  readonly accepted: number;
  readonly rejected: number;
}

/** No items: refused as a whole. */
function readOrRefused({ signal, encoding, bytes }: Body): { readonly items?: Items; readonly fault?: string } {
  try {
    const { rejections, ...read } = signal === 'traces' ? readTraces(bytes, encoding) : readLogs(bytes, encoding);
    // Attributes are decoded when they are read; that must not fail either.
    const plain = 'spans' in read ? read.spans.map(plainSpan) : read.records.map(plainRecord);
    return { items: { accepted: plain.length, rejected: rejections.reduce((sum, { count }) => sum + count, 0) } };
  } catch (error) {
    if (error instanceof JuryError && error.code === 'OTLP_MALFORMED') return {};
    return { fault: `it threw ${String(error)}` };
  }
}

/** The answer must say what reading in the process said, and the metrics what the answer said. */
async function sentFault(target: Target, { signal, encoding, bytes }: Body, items: Items | undefined): Promise<string | undefined> {
  const before = await target.counts();
  const isZipped = bytes.length % 2 === 0;
  const headers = {
    'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
    ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
  };
  const answer = await post(isZipped ? gzipSync(bytes) : bytes, { path: `/v1/${signal}`, headers })(target);
  const after = await target.counts();
  const metric = signal === 'traces' ? 'spans' : 'log_records';
  const grown = (outcome: string): number => sumOf(after, metric, outcome) - sumOf(before, metric, outcome);
  const got = [answer.status, answer.rejected, grown('accepted'), grown('rejected')].join();
  const wanted = (items === undefined ? ['400', 0, 0, 0] : ['200', items.rejected, items.accepted, items.rejected]).join();
  return got === wanted ? undefined : `status, rejected, accepted and rejected by the metrics are ${got}, not ${wanted}`;
}

function sumOf(counts: ReadonlyMap<string, number>, metric: string, outcome: string): number {
  const prefix = `tracejury_receiver_${metric}_total{tracejury_outcome="${outcome}"`;
  return [...counts].filter(([sample]) => sample.startsWith(prefix)).reduce((sum, [, value]) => sum + value, 0);
}

function kept({ signal, encoding, bytes }: Body, seed: number, number: number): string {
  const path = join(mkdtempSync(join(tmpdir(), 'tracejury-fuzz-')), `${seed}-${number}.${signal}.${encoding}.hex`);
  writeFileSync(path, bytes.toString('hex'));
  return path;
}
