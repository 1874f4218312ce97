/** Makes recordings: node test/recordings/rig/js/run.ts FOLDER [SCENARIO]. Packages are installed below RIG_HOME. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { LogRecord, Span } from '../../../../src/model/span.ts';
import { readLogs, readTraces } from '../../../../src/otlp/read/read.ts';
import { expectationOf, type LogLine, type Passing } from './expectation.ts';
import { definitionsOf, model, prompts } from './kit.ts';
import { modelServer, type ModelRequest } from './model-server.ts';
import { receiver, type Body } from './receiver.ts';
import { scenarioOf, scriptOf, type FinalTool } from './scenarios.ts';

interface Entry {
  readonly agent: string;
  /** The list of packages, in `packages`. */
  readonly packages?: string;
  readonly language?: string;
  /** The command that runs the agent; absent: the one of the JavaScript agents. */
  readonly command?: readonly string[];
  readonly source: {
    readonly package: string;
    readonly version?: string;
    readonly framework: string | null;
    readonly framework_version?: string;
  };
  readonly dialect: string;
  /** null: the instrumentation and the client name it differently, and both are right. */
  readonly model?: string | null;
  readonly passing?: { readonly [scenario: string]: Passing };
  readonly finalTool?: FinalTool;
  readonly otherRoots?: string;
  /** A variable that is null is taken away. */
  readonly env?: { readonly [name: string]: string | null };
  readonly noSession?: boolean;
  /** The framework knows no names of agents. */
  readonly noAgentName?: boolean;
  /** Fields that no byte has and that a search cannot judge, by scenario; `*`: in all. */
  readonly notCarried?: { readonly [scenario: string]: readonly string[] };
  readonly notes?: readonly string[];
  readonly scenarios: readonly string[];
}

const homeOf = ({ packages = 'clients' }: Entry): string => join(homes, packages);
const here = fileURLToPath(new URL('.', import.meta.url));
const homes = process.env['RIG_HOME'] ?? join(homedir(), '.cache/rig-js');
const data = process.env['RIG_DATA'] ?? fileURLToPath(new URL('../../data', import.meta.url));

async function record(folder: string, entry: Entry, scenario: string): Promise<void> {
  const passing = entry.passing?.[scenario];
  const server = await modelServer(scriptOf(scenario, passing, entry.finalTool));
  const sink = await receiver();
  const home = homeOf(entry);
  const logFile = join(home, 'agent.log');
  writeFileSync(logFile, '');
  const scenarioFile = join(home, 'scenario.json');
  const { turns, session, streamed = false, script } = scenarioOf(scenario);
  writeFileSync(scenarioFile, JSON.stringify({ scenario, turns, session, streamed, alone: script['refund_desk'] === undefined }));
  const env = {
    ...process.env,
    DO_NOT_TRACK: '1',
    RIG_LOG: logFile,
    RIG_SCENARIO: scenarioFile,
    RIG_MODEL: server.address,
    RIG_RECEIVER: sink.address,
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.address,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    ...Object.fromEntries(
      Object.entries(entry.env ?? {}).map(([key, value]) => [
        key,
        value?.replaceAll('$RECEIVER', sink.address).replaceAll('$MODEL', server.address),
      ]),
    ),
  };
  const command = entry.command?.map((part) => part.replaceAll('$HERE', here)) ?? ['node', join(home, 'main.ts')];
  const status = await run([...command, entry.agent, scenario], { env, cwd: home });
  server.close();
  sink.close();
  const log = readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
  if (status !== 0 || sink.bodies.length === 0)
    throw new Error(`${folder}/${scenario}: exit ${status}, ${sink.bodies.length} bodies, ${log.length} lines`);
  write(folder, entry, scenario, { log, requests: server.requests, bodies: sink.bodies });
}

function run(
  [program = '', ...args]: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<number | null> {
  const child = spawn(program, args, { ...options, stdio: 'inherit' });
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
  return new Promise((resolve) => {
    child.on('exit', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

/** Installs the packages once, and again when their list has changed; agents find them beside themselves. */
function prepare(entry: Entry): void {
  const home = homeOf(entry);
  mkdirSync(home, { recursive: true });
  if (entry.command === undefined) {
    const list = readFileSync(join(here, 'packages', `${entry.packages ?? 'clients'}.json`), 'utf8');
    const installed = join(home, 'package.json');
    if (!existsSync(join(home, 'node_modules')) || readFileSync(installed, 'utf8') !== list) {
      writeFileSync(installed, list);
      execFileSync('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: home,
        stdio: 'inherit',
      });
    }
  }
  rmSync(join(home, 'agents'), { recursive: true, force: true });
  for (const name of ['agents', 'main.ts', 'kit.ts', 'scenarios.ts']) cpSync(join(here, name), join(home, name), { recursive: true });
}

interface Recorded {
  readonly log: readonly LogLine[];
  readonly requests: readonly ModelRequest[];
  readonly bodies: readonly Body[];
}

function write(folder: string, entry: Entry, scenario: string, { log, requests, bodies }: Recorded): void {
  const spans: Span[] = [];
  const records: LogRecord[] = [];
  let ignored = 0;
  let replaced = 0;
  const target = join(data, folder, scenario);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const count = { traces: 0, logs: 0, metrics: 0 };
  const files = bodies.map(({ payload: sent, ...body }) => {
    const isJson = body.content_type.includes('json');
    const isPacked = body.content_encoding === 'gzip';
    const came = isPacked ? gunzipSync(sent) : sent;
    const plain = withoutPlaces(came);
    const isReplaced = !plain.equals(came);
    const payload = isReplaced ? (isPacked ? gzipSync(plain) : plain) : sent;
    if (isReplaced) replaced += 1;
    if (body.kind === 'traces') spans.push(...readTraces(plain, isJson ? 'json' : 'protobuf').spans);
    if (body.kind === 'logs') {
      const read = readLogs(plain, isJson ? 'json' : 'protobuf');
      records.push(...read.records);
      ignored += read.ignored;
    }
    count[body.kind] += 1;
    const stem = body.kind === 'traces' ? 'request' : body.kind;
    const file = `${stem}-${String(count[body.kind]).padStart(2, '0')}.${isJson ? 'json' : 'binpb'}${body.content_encoding === 'gzip' ? '.gz' : ''}`;
    writeFileSync(join(target, file), payload);
    const { kind, path, content_type, content_encoding, user_agent } = body;
    return { file, kind, transport: 'http', path, content_type, content_encoding, bytes: payload.length, user_agent };
  });
  const isAlone = entry.passing?.[scenario] === undefined;
  const {
    traces,
    not_carried: found,
    ...rest
  } = expectationOf({
    log,
    requests,
    spans,
    records,
    passing: entry.passing?.[scenario],
    prompts: prompts,
    tools: (agent) => definitionsOf(agent, { alone: isAlone }),
    model: entry.model === undefined ? model : entry.model,
    otherRoots: entry.otherRoots === undefined ? undefined : new RegExp(entry.otherRoots),
  });
  const scopes = [...new Set(spans.map(({ scope }) => `${scope.name}${scope.version === '' ? '' : `@${scope.version}`}`))];
  const expected = {
    source: { ...sourceOf(entry), scopes },
    dialect: entry.dialect,
    scenario,
    files,
    decoded: {
      spans: spans.length,
      log_records: records.length + ignored,
      otlp_traces: new Set([...spans, ...records].map(({ traceId }) => traceId)).size,
    },
    traces: traces.map((trace) => ({
      ...trace,
      ...(entry.noSession === true ? { session_id: null } : {}),
      ...(entry.noAgentName === true ? { agent_name: null } : {}),
    })),
    ...rest,
    not_carried: [
      ...found.filter((field) => field !== 'agent_name' || entry.noAgentName !== true),
      ...(entry.notCarried?.['*'] ?? []),
      ...(entry.notCarried?.[scenario] ?? []),
    ],
    machine_facts_replaced: replaced > 0,
    notes: entry.notes ?? [],
  };
  writeFileSync(join(target, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`);
  const { not_carried, partly_carried, only_in_logs } = expected;
  console.log(
    `${folder}/${scenario}: ${JSON.stringify({ ...expected.decoded, calls: traces.map(({ tool_calls, sub_agents }) => [tool_calls.length, ...sub_agents.map((sub) => sub.tool_calls.length)]), final: traces.map(({ final_response }) => final_response), not_carried, partly_carried, only_in_logs })}`,
  );
}

/** Folders of this machine become neutral ones of the same length, so that the rest of a protobuf body stays unchanged. */
function withoutPlaces(body: Buffer): Buffer {
  const project = fileURLToPath(new URL('../../../..', import.meta.url)).slice(0, -1);
  const places = [homes, project, dirname(realpathSync(join(project, 'node_modules')))];
  const text = places.reduce((left, place) => left.replaceAll(place, '/srv/shop'.padEnd(place.length, '-')), body.toString('latin1'));
  return Buffer.from(text, 'latin1');
}

function sourceOf(entry: Entry): object {
  const { source, language = 'javascript' } = entry;
  const version = (name: string): string | null => {
    const file = join(homeOf(entry), 'node_modules', name, 'package.json');
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version : null;
  };
  return {
    package: source.package,
    version: source.version ?? version(source.package),
    framework: source.framework,
    framework_version: source.framework_version ?? (source.framework === null ? null : version(source.framework)),
    language,
    language_version: language === 'javascript' ? process.versions.node : null,
  };
}

async function main(): Promise<void> {
  const [folder = '', only] = process.argv.slice(2);
  const catalog = JSON.parse(readFileSync(join(here, 'catalog.json'), 'utf8')) as { readonly [folder: string]: Entry };
  const entry = catalog[folder];
  if (entry === undefined) throw new Error(`no ${folder} in catalog.json`);
  prepare(entry);
  for (const scenario of entry.scenarios.filter((name) => only === undefined || name === only)) {
    await record(folder, entry, scenario);
  }
}

await main();
