/** Runs that are read in pieces are those of all spans at once, with any cuts of the inputs. */
import { appendFileSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { recordedRuns } from '../../../src/cli/inspect/inspection.ts';
import { type Body, inputOf, openInputs, readBodies, readRecorded } from '../../../src/cli/inspect/recording.ts';
import { streamedRuns } from '../../../src/cli/inspect/streamed-runs.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { type LogRecord, type Span, textAttribute } from '../../../src/model/span.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeLogsJson, writeTraces } from '../../../src/otlp/write/write.ts';
import { defaultClosing } from '../../../src/pipeline/gathering/close-policy.ts';
import { seeded, type Chance } from '../../builders/seeded.ts';
import { span } from '../../builders/spans.ts';
import { contentsOf, ownRecordings } from '../../recordings/read.ts';

const reading = { closing: defaultClosing };
const pieceSizes = [300, 3_000, 60_000];

describe('streamed runs', () => {
  const recordings = ownRecordings().map((recording) => ({ name: recording.name, ...contentsOf(recording) }));
  for (const { name, spans, records } of recordings) {
    test(`recordings: ${name} has the same runs in pieces of any size, over any files`, () => {
      pieceSizes.forEach((pieceBytes, seed) => isTheSame(cutAnywhere(spans, records, seeded(seed)), pieceBytes));
    });
  }

  test('recordings: all together have the same runs, also where sessions and content tie them', () => {
    isTheSame(
      cutAnywhere(
        recordings.flatMap((one) => one.spans),
        recordings.flatMap((one) => one.records),
        seeded(7),
      ),
      60_000,
    );
  });

  test('recordings: log records in large files of protobuf behind the spans have their part in the runs', async () => {
    for (const { folder, expected } of ownRecordings()) {
      const bodiesOf = async (kind: string): Promise<readonly Body[]> =>
        await readBodies(
          expected.files
            .filter((file) => file.kind === kind && file.content_type.includes('protobuf'))
            .map(({ file }) => join(folder, file)),
          process.stdin,
        );
      const logs = Buffer.concat((await bodiesOf('logs')).map(({ bytes }) => bytes));
      if (logs.length > 0) isTheSame([...(await bodiesOf('traces')), { name: 'logs.pb', bytes: logs }], 1_000);
    }
  });

  test.each([
    { place: 'an id', write: (json: string) => json.replaceAll(/"traceId":\s*/g, '$&' + ' '.repeat(80)) },
    { place: 'a part of an id', write: (json: string) => json.replaceAll(/"traceId":\s*/g, '$&' + ' '.repeat(26)) },
    { place: 'a list of spans', write: (json: string) => ' '.repeat(120) + jaegerOf(json) },
  ])('white space before $place changes no run', ({ write }) => {
    const parts = Array.from({ length: 4 }, (_, at) =>
      writeTraces(
        [
          span({
            trace: 1 + (at % 2),
            id: 1 + at,
            ...(at < 2 ? {} : { parent: at - 1 }),
            attributes: {
              'gen_ai.operation.name': at < 2 ? 'invoke_agent' : 'execute_tool',
              'gen_ai.agent.name': 'a',
              'gen_ai.tool.name': 't',
            },
          }),
        ],
        'json',
      ).toString(),
    );
    isTheSame(
      parts.map((json, at) => ({ name: `${at}.json`, bytes: Buffer.from(at < 2 ? json : write(json)) })),
      60_000,
    );
  });

  test.each([
    { change: 'has grown', to: (file: string) => appendFileSync(file, lineOf(1, 2)), runs: 400 },
    { change: 'is shorter', to: (file: string) => truncateSync(file, 5_000), runs: undefined },
    {
      change: 'has its traces in another order',
      to: (file: string) => writeFileSync(file, manyLines().toReversed().join('')),
      runs: undefined,
    },
  ])('a file that $change at the second reading gives the runs of the first one, or a fault', async ({ to, runs }) => {
    const folder = mkdtempSync(join(tmpdir(), 'streamed-runs-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'runs.jsonl');
    writeFileSync(file, manyLines().join(''));
    const { batches } = streamedRuns(await openInputs([file], process.stdin), { reading, pieceBytes: 20_000 });
    const found = (): number => {
      let count = 0;
      let isChanged = false;
      for (const batch of batches) {
        count += batch.runs.length;
        if (!isChanged) to(file);
        isChanged = true;
      }
      return count;
    };
    if (runs === undefined) expect(found).toThrow(/runs\.jsonl: it changed while it was read\./);
    else expect(found()).toBe(runs);
  });

  test.each(['protobuf', 'json'] as const)(
    'a large file in %s is read piece by piece, and a run is there before the next piece',
    (encoding) => {
      const traces = Array.from({ length: 40 }, (_, trace) => [
        span({ trace: trace + 1, id: 1, attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' } }),
        span({ trace: trace + 1, id: 2, parent: 1, attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't' } }),
      ]);
      const parts = traces.map((spans) => writeTraces(spans, encoding));
      const bytes = Buffer.concat(encoding === 'json' ? parts.flatMap((part) => [part, Buffer.from('\n')]) : parts);
      const read: number[] = [];
      const { batches } = streamedRuns(
        [
          {
            name: 'all',
            open: () => ({
              size: bytes.length,
              read(at, length) {
                read.push(at);
                return bytes.subarray(at, at + length);
              },
              close: () => undefined,
            }),
          },
        ],
        { reading, pieceBytes: Math.ceil(bytes.length / 8) },
      );
      const held: number[] = [];
      for (const { spans, runs } of batches) {
        held.push(spans.length);
        expect(runs.length * 2).toBe(spans.length);
        // The second reading has come to its first piece.
        if (held.length === 1) expect(read.at(-1)).toBe(0);
      }
      expect(held.reduce((sum, count) => sum + count, 0)).toBe(80);
      expect(Math.max(...held)).toBeLessThanOrEqual(12);
    },
  );
});

function lineOf(trace: number, id: number): string {
  const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' };
  return `${writeTraces([span({ trace, id, attributes })], 'json').toString()}\n`;
}

function manyLines(): readonly string[] {
  return Array.from({ length: 400 }, (_, at) => lineOf(at + 1, 1));
}

/** The spans as Jaeger writes them. */
function jaegerOf(json: string): string {
  const { spans } = readTraces(Buffer.from(json), 'json');
  const written = spans.map((one) => ({
    traceID: one.traceId,
    spanID: one.spanId,
    operationName: one.name,
    references: one.parentSpanId === undefined ? [] : [{ refType: 'CHILD_OF', traceID: one.traceId, spanID: one.parentSpanId }],
    startTime: Number(one.startUnixNano / 1_000n),
    duration: 10,
    processID: 'p1',
    tags: ['gen_ai.operation.name', 'gen_ai.tool.name'].map((key) => ({ key, type: 'string', value: textAttribute(one, key) })),
  }));
  return JSON.stringify({ data: [{ traceID: spans[0]?.traceId, spans: written, processes: { p1: { serviceName: 's', tags: [] } } }] });
}

function isTheSame(bodies: readonly Body[], pieceBytes: number): void {
  const whole = readRecorded(bodies);
  const stream = streamedRuns(bodies.map(inputOf), { reading, pieceBytes });
  const found = [...stream.batches].flatMap(({ runs, placeOf }) => runs.map((run) => ({ run, place: placeOf(run) })));
  const inOrder = found.toSorted((a, b) => Number(a.run.startUnixNano - b.run.startUnixNano) || a.place - b.place);
  expect(inOrder.map(({ run }) => comparable(run))).toEqual(recordedRuns(whole, reading).map(comparable));
  expect(stream.rejections.map(({ where, reason, count }) => [where, reason, count])).toEqual(
    whole.rejections.map(({ where, reason, count }) => [where, reason, count]),
  );
}

/** A run that waited for others has as many revisions as it closed in between. */
function comparable({ revision: _revision, ...run }: Run): Omit<Run, 'revision'> {
  return run;
}

/** Consecutive spans and records in files of all forms, each with some requests. */
function cutAnywhere(spans: readonly Span[], records: readonly LogRecord[], chance: Chance): readonly Body[] {
  const bodies: Body[] = [];
  const add = <Item>(
    items: readonly Item[],
    forms: readonly ('json' | 'lines' | 'protobuf')[],
    write: (items: readonly Item[], encoding: 'protobuf' | 'json') => Buffer,
  ): void => {
    for (let at = 0; at < items.length;) {
      const file = items.slice(at, (at += 1 + chance.below(items.length)));
      const as = forms[chance.below(forms.length)] ?? 'json';
      const requests: Buffer[] = [];
      for (let from = 0; from < file.length;) {
        const some = file.slice(from, (from += 1 + chance.below(as === 'json' ? file.length * 4 : 6)));
        requests.push(write(as === 'json' ? file : some, as === 'protobuf' ? 'protobuf' : 'json'));
        if (as === 'json') break;
      }
      const bytes = Buffer.concat(as === 'lines' ? requests.flatMap((request) => [request, Buffer.from('\n')]) : requests);
      bodies.push({ name: `${bodies.length}.${as}`, bytes });
    }
  };
  add(spans, ['json', 'lines', 'protobuf'], writeTraces);
  add(records, ['json', 'lines'], writeLogsJson);
  return bodies;
}
