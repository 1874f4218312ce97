/** A configuration that changes on the disk, in every way: the service notices by itself. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pino, type Logger } from 'pino';
import { evaluators } from '../../evaluators/index.ts';
import { watchedFile } from '../../src/config/files/watched-file.ts';
import type { ConfigFlags } from '../../src/config/overrides.ts';
import type { Environment } from '../../src/config/document.ts';
import { service } from '../../src/service.ts';
import { eventually, sample, sendAgentRun } from './running.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tracejury-watched-'))));
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0)) await stop();
  rmSync(folder, { recursive: true });
});

function yaml(more: string): string {
  return `listen: { otlp_http: 127.0.0.1:0, otlp_grpc: 127.0.0.1:0, console: 127.0.0.1:0 }\nclosing: { settle: 5ms, quiet: 50ms }\nstore: { url: "memory:" }\njournal: { url: "memory:" }\n${more}\n`;
}

interface Watched {
  /** Number of reloads with this outcome. */
  read(outcome: 'applied' | 'unchanged' | 'refused'): Promise<number>;
  /** Waits for this number. */
  until(outcome: 'applied' | 'unchanged' | 'refused', times: number): Promise<void>;
  /** The names of the evaluators that score a run which is sent now. */
  names(agent: string): Promise<readonly string[]>;
}

interface Beside {
  readonly env?: Environment;
  readonly flags?: ConfigFlags;
  readonly logger?: Logger;
}

async function watched(file: string, { env = {}, flags = {}, logger = pino({ level: 'silent' }) }: Beside = {}): Promise<Watched> {
  const source = watchedFile({ file, env, evaluators, flags });
  const { config, fingerprints } = await source.read();
  const started = service({ config, fingerprints, source, watchMs: 20, logger, stopMs: 500 });
  open.push(started.stop);
  const { otlpHttp, console: page } = await started.start();
  const metrics = async (): Promise<string> => (await fetch(`${page}/metrics`)).text();
  const read: Watched['read'] = async (outcome) =>
    sample(await metrics(), 'tracejury_config_reloads_total', { tracejury_outcome: outcome }) ?? 0;
  return {
    read,
    until: async (outcome, times) =>
      void (await eventually(async () => ((await read(outcome)) >= times ? true : undefined), `${times} × ${outcome}`)),
    async names(agent) {
      await sendAgentRun(otlpHttp, { agent });
      const page_ = await eventually(async () => {
        const text = await metrics();
        return sample(text, 'tracejury_runs_total', { gen_ai_agent_name: agent }) === undefined ? undefined : text;
      }, 'the run');
      return [
        ...page_.matchAll(
          new RegExp(`^tracejury_evaluation_results_total\\{gen_ai_evaluation_name="(\\w+)",gen_ai_agent_name="${agent}"`, 'gm'),
        ),
      ]
        .map(([, name = '']) => name)
        .toSorted();
    },
  };
}

test('watched: a file that is written, put in another’s place, taken away and put back', async () => {
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(file, yaml('evaluators: [ tool_error ]'));
  const jury = await watched(file);
  expect(await jury.names('first')).toEqual(['tool_error']);
  writeFileSync(file, yaml('evaluators: [ { use: tool_error, name: written } ]'));
  await jury.until('applied', 1);
  expect(await jury.names('second')).toEqual(['written']);
  // As editors do, so that no reader gets half a file.
  writeFileSync(`${file}.new`, yaml('evaluators: [ { use: tool_error, name: renamed } ]'));
  renameSync(`${file}.new`, file);
  await jury.until('applied', 2);
  expect(await jury.names('third')).toEqual(['renamed']);
  renameSync(file, `${file}.away`);
  await jury.until('refused', 1);
  expect(await jury.names('fourth')).toEqual(['renamed']);
  renameSync(`${file}.away`, file);
  await jury.until('unchanged', 1);
  expect(await jury.names('fifth')).toEqual(['renamed']);
  expect([await jury.read('applied'), await jury.read('refused')]).toEqual([2, 1]);
});

test('watched: a link on the way that is turned to another folder, as Kubernetes does with config maps', async () => {
  const version = (name: string): void => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'tracejury.yaml'), yaml(`evaluators: [ { use: ./own.mjs, name: ${name} } ]`));
    writeFileSync(
      join(folder, name, 'own.mjs'),
      `export const own = { kind: 'rule', id: 'own_of_${name}', version: 1, summary: '', needs: [], onByDefault: false, defaultThreshold: 1, defaults: {}, optionsSchema: { type: 'object' }, source: 'tests', evaluate: () => ({ kind: 'scored', score: 1, explanation: '', evidence: [], details: {} }) };`,
    );
  };
  version('one');
  version('two');
  symlinkSync('one', join(folder, '..data'));
  for (const name of ['tracejury.yaml', 'own.mjs']) symlinkSync(join('..data', name), join(folder, name));
  const jury = await watched(join(folder, 'tracejury.yaml'));
  expect(await jury.names('first')).toEqual(['one']);
  symlinkSync('two', join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  await jury.until('applied', 1);
  expect(await jury.names('second')).toEqual(['two']);
  expect(await jury.read('refused')).toBe(0);
});

test('watched: files that the configuration names, also one that is still missing', async () => {
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(join(folder, 'tools.json'), '[{ "name": "find_order" }]');
  writeFileSync(file, yaml('tools: [ { file: tools.json } ]'));
  const jury = await watched(file);
  writeFileSync(join(folder, 'tools.json'), '[{ "name": "find_order" }, { "name": "notify" }]');
  await jury.until('applied', 1);
  writeFileSync(file, yaml('tools: [ { file: tools.json }, { file: more.json } ]'));
  await jury.until('refused', 1);
  writeFileSync(join(folder, 'more.json'), '[]');
  await jury.until('applied', 2);
  expect(await jury.read('refused')).toBe(1);
});

test('watched: what flags and the environment said holds when the file is read again', async () => {
  const file = join(folder, 'tracejury.yaml');
  const lines: { readonly [field: string]: unknown }[] = [];
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line) as { readonly [field: string]: unknown }) },
  );
  const write = (port: number, level: string, evaluator: string): void =>
    writeFileSync(
      file,
      `listen: { otlp_http: "127.0.0.1:${port}", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:${port + 1}" }\nlog: { level: ${level} }\nclosing: { settle: 5ms, quiet: 50ms }\nstore: { url: "memory:" }\njournal: { url: "memory:" }\nevaluators: [ ${evaluator} ]\n`,
    );
  write(1, 'error', 'tool_error');
  const jury = await watched(file, { logger, flags: { port: 0, logLevel: 'info' }, env: { TRACEJURY_LISTEN_CONSOLE: '127.0.0.1:0' } });
  write(3, 'fatal', 'tool_recovery');
  await jury.until('applied', 1);
  expect(await jury.names('after')).toEqual(['tool_recovery']);
  const read = lines.filter(({ changed, keys }) => changed !== undefined || keys !== undefined);
  expect(read.map(({ changed, keys }) => ({ changed, keys }))).toEqual([{ changed: ['evaluators'], keys: undefined }]);
});
