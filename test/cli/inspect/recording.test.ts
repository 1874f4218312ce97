/** Unreadable input is named: the file, the line of JSON lines, and the fault. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type ByteLimits, defaultByteLimits, readBodies, readRecorded, type Recorded } from '../../../src/cli/inspect/recording.ts';
import { JuryError } from '../../../src/model/errors.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { span } from '../../builders/spans.ts';

async function read(bytes: Buffer | string, limits: Partial<ByteLimits> = {}): Promise<Recorded> {
  return readRecorded(await readBodies(['-'], Readable.from([Buffer.from(bytes)]), { ...defaultByteLimits, ...limits }));
}

async function faultOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof JuryError) return `${error.code} ${error.why}`;
    throw error;
  }
  return 'no fault';
}

const line = writeTraces([span({ id: 1 })], 'json').toString();

const hostile: readonly {
  readonly name: string;
  readonly input: Buffer | string;
  readonly limits?: Partial<ByteLimits>;
  readonly want: string;
}[] = [
  { name: 'nothing at all', input: '', want: 'standard input: it is empty.' },
  { name: 'plain text', input: 'hello', want: 'neither an OTLP request in protobuf nor JSON' },
  { name: 'a text that begins with a line feed', input: '\nhello', want: 'neither an OTLP request in protobuf nor JSON' },
  { name: 'a list', input: '[]', want: 'neither an OTLP request in protobuf nor JSON' },
  {
    name: 'JSON of something else',
    input: '{"messages":[],"__proto__":1}',
    want: 'it has neither resourceSpans nor resourceLogs, but "messages", "__proto__".',
  },
  { name: 'a JSON request that is cut off', input: line.slice(0, -5), want: 'standard input: The body is not JSON.' },
  {
    name: 'a line that is not JSON',
    input: `${line}\n${line}\n{"resourceSpans": 7\n`,
    want: 'standard input: line 3: The body is not JSON.',
  },
  { name: 'a line that is not a request', input: `${line}\n\n{"a":1}\n`, want: 'standard input: line 3: it has neither' },
  { name: 'a line with a text where a list belongs', input: `${line}\n{"resourceSpans":"x"}`, want: 'standard input: line 2: ' },
  { name: 'a JSON body nested without end', input: `{"resourceSpans":${'['.repeat(100_000)}`, want: 'nested deeper' },
  { name: 'gzip that is cut off', input: gzipSync(line).subarray(0, 40), want: 'begins like gzip but does not inflate' },
  {
    name: 'gzip that inflates beyond the bound',
    input: gzipSync('x'.repeat(100_000)),
    limits: { totalBytes: 10_000 },
    want: 'inflates to more than 10000 bytes',
  },
  { name: 'more bytes than one file may have', input: 'x'.repeat(1_001), limits: { fileBytes: 1_000 }, want: 'larger than 1000 bytes' },
];

for (const { name, input, limits, want } of hostile) {
  test(`recorded: ${name} is refused with the reason`, async () => {
    const fault = await faultOf(() => read(input, limits));
    expect(fault).toContain('INPUT_UNREADABLE');
    expect(fault).toContain(want);
  });
}

test('recorded: a protobuf body whose first length looks like a brace is not taken for JSON', async () => {
  const lengths: number[] = [];
  for (let pad = 0; pad < 200; pad++) {
    const body = writeTraces([span({ id: 1, name: 'x'.repeat(pad) })], 'protobuf');
    lengths.push(body[1] ?? 0);
    expect((await read(body)).spans.map(({ name }) => name)).toEqual(readTraces(body, 'protobuf').spans.map(({ name }) => name));
  }
  expect(lengths).toContain(0x7b);
});

test('recorded: spans that cannot be taken are counted with where they are; the others are read', async () => {
  const bad = line.replace(/"traceId":"[0-9a-f]+"/, '"traceId":"xyz"');
  const { spans, rejections } = await read(`${line}\n${bad}\n`);
  expect(spans).toHaveLength(1);
  expect(rejections.map(({ where, reason, count }) => `${where} ${reason} ${count}`)).toEqual([
    'standard input: line 2 invalid_trace_id 1',
  ]);
});

test('recorded: a folder gives its recorded requests in order and nothing else; an empty one is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-'));
  expect(await faultOf(() => readBodies([folder], Readable.from([])))).toContain('has no request-* or logs-* file');
  for (const [file, text] of [
    ['request-02.json', '2'],
    ['request-01.json', '1'],
    ['expected.json', 'x'],
    ['logs-01.json', '0'],
  ] as const)
    writeFileSync(join(folder, file), text);
  expect((await readBodies([folder], Readable.from([]))).map(({ bytes }) => bytes.toString())).toEqual(['0', '1', '2']);
  expect(await faultOf(() => readBodies([folder], Readable.from([]), { ...defaultByteLimits, folderFiles: 2 }))).toContain(
    'more than 2 recorded requests',
  );
});

test('recorded: a file that does not exist is named', async () => {
  expect(await faultOf(() => readBodies(['no/such/file'], Readable.from([])))).toContain('no/such/file: there is no such file.');
});
