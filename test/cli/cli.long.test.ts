import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { evaluators } from '../../evaluators/index.ts';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const main = join(import.meta.dirname, '../../src/cli/main.ts');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

function tracejury(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env: { PATH: process.env['PATH'], ...env } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

/** Without a separate process. */
async function answered(words: readonly string[]): Promise<Outcome> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommandLine({
    words,
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('cli: config check names every fault with its place, its line and what would be right', async () => {
  const path = file('bad.yaml', 'closing:\n  settle: soon\nevaluators:\n  - tool_eror\njudges: { main: { model: m, apikey: s3cret } }\n');
  const { code, out, err } = await tracejury(['config', 'check', path]);
  expect(out).toBe(`${path}:2:11 closing.settle: "soon" is not a duration
  2 |   settle: soon
    = Write a number with a unit: 500ms, 5s, 10m, 1h or 7d.

${path}:4:5 evaluators[0]: "tool_eror" is not an evaluator
  4 |   - tool_eror
    = Did you mean tool_error?

${path}:5:29 judges.main.apikey: is not a known key here
  5 | judges: { main: { model: m, apikey: *** } }
    = Did you mean api_key?

3 faults
`);
  expect([code, err]).toEqual([1, '']);
});

test('cli: config check of a sound file reports no faults', async () => {
  const path = file('good.yaml', 'judges: { main: { model: m, price: { input_per_million: 1 } } }\n');
  expect(await tracejury(['config', 'check', path])).toEqual({ code: 0, out: `${path}: no faults\n`, err: '' });
});

test('cli: config check of a file that cannot be read is a fault of it', async () => {
  const path = join(folder, 'none.yaml');
  const { code, out } = await tracejury(['config', 'check', path]);
  expect([code, out]).toEqual([1, `${path}:1:1 cannot be read (ENOENT)\n    = Check the path and its permissions.\n\n1 fault\n`]);
});

test('cli: config print shows the effective configuration and no secret', async () => {
  const path = file(
    'secret.yaml',
    'judges:\n  main:\n    model: m\n    api_key: ${env:KEY}\nexport: [ { to: span_events, endpoint: "http://u:s3cret-p@b/", headers: { authorization: "Bearer ${env:KEY}" } } ]\nlisten: { tokens: [ { name: a, value: s3cret-t-9f27c1d0, may: [ingest] } ] }\n',
  );
  const { code, out, err } = await tracejury(['config', 'print', path], { KEY: 's3cret-k' });
  expect([code, err]).toEqual([0, '']);
  expect(out).not.toContain('s3cret');
  expect(parse(out)).toMatchObject({
    closing: { quiet: '5s' },
    judges: { main: { model: 'm', api_key: '***', concurrency: 8 } },
    listen: { tokens: [{ name: 'a', value: '***' }] },
  });
});

test('cli: config print of a faulty file complains and prints nothing', async () => {
  const { code, out, err } = await tracejury(['config', 'print', file('faulty.yaml', 'limts: {}\n')]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain('Did you mean limits?');
});

test('cli: config schema prints a JSON Schema with every section and every evaluator', async () => {
  const { code, out } = await tracejury(['config', 'schema']);
  const schema = JSON.parse(out) as { readonly $schema: string; readonly properties: { readonly [section: string]: unknown } };
  expect(code).toBe(0);
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  expect(Object.keys(schema.properties)).toEqual([
    'listen',
    'limits',
    'closing',
    'redact',
    'tools',
    'evaluators',
    'sessions',
    'judges',
    'export',
    'prices',
    'groups',
    'store',
    'journal',
    'log',
    'telemetry',
    'dialects',
    'datasets',
    'queues',
    'alerts',
    'issues',
  ]);
  expect(schema.properties['evaluators']).toMatchObject({ items: { then: { enum: [...evaluators.map(({ id }) => id), 'defaults'] } } });
});

test('cli: evaluators lists every evaluator with its summary', async () => {
  const { code, out } = await tracejury(['evaluators']);
  expect(code).toBe(0);
  const lines = out.split('\n').map((line) => line.trim().split(/\s{2,}/));
  for (const { id, summary } of evaluators)
    expect(lines.find(([first]) => first === id)?.[1]?.replace(/ It needs [\w., ]+$/, '')).toBe(summary);
});

test('cli: evaluators NAME shows options with their defaults, what it needs and its threshold', async () => {
  const { code, out } = await tracejury(['evaluators', 'tool_error']);
  expect(code).toBe(0);
  expect(out).toMatch(/^tool_error\n/);
  expect(out).toMatch(/needs +tool calls/);
  expect(out).toMatch(/threshold +passes from 1/);
  expect(out).toMatch(/blank_is_error +true or false; default true\./);
});

const wrong: readonly (readonly [words: readonly string[], said: RegExp])[] = [
  [[], /^Usage: tracejury COMMAND/],
  [['confg'], /^tracejury: confg is not a command\. Did you mean config\? tracejury --help describes each of them\.$/m],
  [['config'], /Name an action: check, print or schema\.[^]*Usage: tracejury config/],
  [['config', 'chek'], /"chek" is not check, print or schema/],
  [['config', 'check', 'a', 'b'], /too many arguments, from "b" on/],
  [['config', '--frobnicate'], /^tracejury config: --frobnicate is not an option\. Run tracejury config --help for its options\.\n$/],
  [
    ['serve', '--prot', '1'],
    /^tracejury serve: --prot is not an option\. Did you mean --port\? Run tracejury serve --help for its options\.\n$/,
  ],
  [['serve', '-x'], /^tracejury serve: -x is not an option\. Run tracejury serve --help for its options\.\n$/],
  [['serve', '--port'], /^tracejury serve: Option '--port <value>' argument missing\. Run tracejury serve --help for its options\.\n$/],
  [
    ['judge', 'check', '--labls', 'a'],
    /^tracejury judge: --labls is not an option\. Did you mean --labels\? Run tracejury judge check --help/,
  ],
  [['evaluators', 'tool_eror'], /Did you mean tool_error\?/],
  [['constructor'], /constructor is not a command/],
];
for (const [words, said] of wrong) {
  test(`cli: ${JSON.stringify(words)} is bad usage`, async () => {
    const { code, out, err } = await tracejury(words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(said);
  });
}

test('cli: --help names every command, and a command its own usage', async () => {
  const all = await tracejury(['--help']);
  expect(all.code).toBe(0);
  for (const { name, usage } of commands) expect(all.out).toContain(`${name} ${usage}`.trimEnd());
  const one = await tracejury(['config', '--help']);
  expect([one.code, one.err]).toEqual([0, '']);
  expect(one.out).toMatch(/^Usage: tracejury config check\|print\|schema/);
});

const loaded = await Promise.all(commands.map(async (command) => ({ ...command, ...(await command.load()) })));

const pages: readonly (readonly string[])[] = [
  [],
  ...loaded.flatMap(({ name, subcommands = [] }) => [[name], ...subcommands.map((one) => [name, one.name])]),
];

for (const words of pages) {
  test(`cli: tracejury ${[...words, '--help'].join(' ')} fits 80 columns${words.length === 0 ? '' : ' and has separate examples'}`, async () => {
    const { code, out } = await answered([...words, '--help']);
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const examples =
      out
        .split('Examples:\n')[1]
        ?.split('\n')
        .filter((line) => /^ {4}\S/.test(line)) ?? [];
    if (words.length > 0) expect(examples.length).toBeGreaterThan(0);
    for (const line of examples) expect(line).toContain(['tracejury', ...words.slice(0, 1)].join(' '));
  });
}

test('cli: --help differs by subcommand', async () => {
  const [whole, check, forecast] = await Promise.all(
    [['judge'], ['judge', 'check'], ['judge', 'forecast']].map(async (words) => (await answered([...words, '--help'])).out),
  );
  expect(whole).toContain('--against FILE');
  expect(whole).toContain('--input-tokens NUMBER');
  expect([check?.includes('--against FILE'), check?.includes('--input-tokens')]).toEqual([true, false]);
  expect([forecast?.includes('--against'), forecast?.includes('--input-tokens NUMBER')]).toEqual([false, true]);
  expect(check).toMatch(/^Usage: tracejury judge check FILE… -c FILE/);
});

test('cli: every option of a command with subcommands is for one of them', () => {
  for (const { options, subcommands } of loaded)
    if (subcommands !== undefined)
      expect([...new Set(subcommands.flatMap((one) => one.options))].sort()).toEqual(Object.keys(options).sort());
});

test('cli: the usage of a command with subcommands names them all, in their order', () => {
  for (const { usage, subcommands = [] } of loaded)
    if (subcommands.length > 0) expect(usage.split(' ')[0]?.replaceAll(/[[\]]/g, '')).toBe(subcommands.map(({ name }) => name).join('|'));
});

test('cli: --version is that of the package', async () => {
  const { code, out } = await tracejury(['--version']);
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { readonly version: string };
  expect([code, out]).toEqual([0, `${version}\n`]);
});

test.each([
  [{}, 'tracejury'],
  [{ npm_lifecycle_event: 'demo', npm_package_name: 'tracejury' }, 'npm run tracejury --'],
  [{ npm_lifecycle_event: 'npx' }, 'npx tracejury'],
  [{ npm_lifecycle_event: 'gate', npm_package_name: 'order-support' }, 'npx tracejury'],
])('cli: under %j hints begin with %s', async (env, program) => {
  const path = join(folder, 'hinted.yaml');
  const said = [
    ['init', '--output', path, '--force'],
    ['init', '--forse'],
    ['init', '--help'],
  ].map((words) => tracejury(words, env));
  const [written, mistyped, help] = await Promise.all(said);
  expect(written?.out).toBe(`Wrote ${path}.\nCheck it:  ${program} config check ${path}\nStart:     ${program} serve -c ${path}\n`);
  expect(mistyped?.err).toContain(`Did you mean --force? Run ${program} init --help`);
  expect(help?.out.includes(`Here, type ${program} in place of tracejury.`)).toBe(program !== 'tracejury');
});

const untakable = [
  {
    listen: { otlp_http: 'taken' },
    said: /^Port \d+ of 127\.0\.0\.1 \(listen\.otlp_http\) is in use, perhaps by another tracejury .*with --port or listen\.otlp_http in the configuration\.$/,
  },
  {
    listen: { otlp_grpc: 'taken' },
    said: /^Port \d+ of 127\.0\.0\.1 \(listen\.otlp_grpc\) is in use, .*choose another port with listen\.otlp_grpc in the configuration\.$/,
  },
  {
    listen: { console: 'taken' },
    said: /^Port \d+ of 127\.0\.0\.1 \(listen\.console\) is in use, .*choose another port with listen\.console in the configuration\.$/,
  },
  {
    listen: { console: '192.0.2.1:0', insecure: true },
    said: /^192\.0\.2\.1 \(listen\.console\) is not an address of this machine\. Choose an address of this machine/,
  },
];
for (const { listen, said } of untakable)
  test(`cli: serve with ${JSON.stringify(listen)} names the address that it cannot have, and the setting that changes it`, async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const free = { otlp_http: '127.0.0.1:0', otlp_grpc: '127.0.0.1:0', console: '127.0.0.1:0' };
    const text = JSON.stringify({ listen: { ...free, ...listen }, store: { url: 'memory:' }, journal: { url: 'memory:' } });
    const { code, out, err } = await tracejury(['serve', '-c', file('taken.yaml', text.replace('taken', `127.0.0.1:${port}`))]);
    other.close();
    const [, sentence = ''] = err.trim().split('tracejury serve: The service cannot listen on one of its addresses. ');
    expect([code, out]).toEqual([2, '']);
    expect(sentence).toMatch(said);
  });
