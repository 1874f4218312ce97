/** Values of the environment and of flags over a configuration: the winner, and the name of a fault. */
import { expect, test } from 'vitest';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfig, type LoadedConfig } from '../../src/config/load.ts';
import { configVariables, type ConfigFlags } from '../../src/config/overrides.ts';
import type { Environment } from '../../src/config/document.ts';
import { members } from './members.ts';
import { validators } from '../builders/validators.ts';

function load(text: string, env: Environment = {}, flags: ConfigFlags = {}): LoadedConfig {
  return loadConfig({ validators, file: 'a.yaml', text, env, flags, evaluators: members });
}

function faults(text: string, env: Environment, flags: ConfigFlags = {}): readonly string[] {
  try {
    load(text, env, flags);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.faults.map(({ file, line, key, problem, source }) => `${file}:${line} ${key}: ${problem}${source}`);
    throw error;
  }
  return [];
}

const everything = {
  TRACEJURY_LISTEN_OTLP_HTTP: '0.0.0.0:1',
  TRACEJURY_LISTEN_OTLP_GRPC: '[::1]:2',
  TRACEJURY_LISTEN_CONSOLE: '127.0.0.1:3',
  TRACEJURY_LISTEN_INSECURE: 'True',
  TRACEJURY_LOG_LEVEL: 'WARN',
  TRACEJURY_LOG_FORMAT: 'json',
  TRACEJURY_STORE_URL: 'memory:',
  TRACEJURY_JOURNAL_URL: 'disk:./elsewhere',
};

test.each([
  '',
  'listen: { otlp_http: "127.0.0.1:9", insecure: false }\nlog: { level: debug, format: pretty }\nstore: { url: "sqlite:a.db" }\njournal: { url: "memory:" }\n',
])('every variable beats the file %j', (text) => {
  expect(Object.keys(everything)).toEqual(configVariables.map(({ name }) => name));
  expect(load(text, everything).config).toMatchObject({
    listen: {
      otlpHttp: { host: '0.0.0.0', port: 1 },
      otlpGrpc: { host: '::1', port: 2 },
      console: { host: '127.0.0.1', port: 3 },
      insecure: true,
    },
    log: { level: 'warn', format: 'json' },
    store: { address: { scheme: 'memory' } },
    journal: { scheme: 'disk', rest: './elsewhere' },
  });
});

const levels: readonly (readonly [is: string, text: string, env: Environment, flags: ConfigFlags])[] = [
  ['info', '', {}, {}],
  ['info', '', { TRACEJURY_LOG_LEVEL: '', OTEL_LOG_LEVEL: '' }, {}],
  ['warn', 'log: { level: warn }', {}, {}],
  ['debug', '', { OTEL_LOG_LEVEL: 'DEBUG' }, {}],
  ['silent', '', { OTEL_LOG_LEVEL: 'none' }, {}],
  ['trace', '', { OTEL_LOG_LEVEL: 'ALL' }, {}],
  ['trace', '', { OTEL_LOG_LEVEL: 'verbose' }, {}],
  ['warn', 'log: { level: warn }', { OTEL_LOG_LEVEL: 'debug' }, {}],
  ['error', 'log: { level: warn }', { OTEL_LOG_LEVEL: 'debug', TRACEJURY_LOG_LEVEL: 'error' }, {}],
  ['fatal', 'log: { level: warn }', { TRACEJURY_LOG_LEVEL: 'error' }, { logLevel: 'FATAL' }],
  // The file's variable does not exist, and the flag replaces it.
  ['trace', 'log: { level: "${env:L:-warn}" }', { L: 'error' }, { logLevel: 'trace' }],
];
test.each(levels)('the level is %s with the file %j, %j and %j', (is, text, env, flags) => {
  expect(load(text, env, flags).config.log.level).toBe(is);
});

const ports: readonly (readonly [is: string, text: string, env: Environment])[] = [
  ['127.0.0.1:77', '', {}],
  ['::1:77', 'listen: { otlp_http: "[::1]:4318" }', {}],
  ['0.0.0.0:77', 'listen: { insecure: true }', { TRACEJURY_LISTEN_OTLP_HTTP: '0.0.0.0:4318' }],
];
test.each(ports)('--port keeps the host: %s with the file %j and %j', (is, text, env) => {
  const { host, port } = load(text, env, { port: 77 }).config.listen.otlpHttp;
  expect(`${host}:${port}`).toBe(is);
});

const faulty: readonly (readonly [want: readonly string[], text: string, env: Environment, flags: ConfigFlags])[] = [
  [['TRACEJURY_LOG_LEVEL:0 log.level: "loud" is not one of the values here'], 'log: { level: info }', { TRACEJURY_LOG_LEVEL: 'loud' }, {}],
  [['--log-level:0 log.level: "loud" is not one of the values here'], '', { TRACEJURY_LOG_LEVEL: 'info' }, { logLevel: 'loud' }],
  [['TRACEJURY_LOG_FORMAT:0 log.format: "xml" is not one of the values here'], '', { TRACEJURY_LOG_FORMAT: 'xml' }, {}],
  [['TRACEJURY_LISTEN_OTLP_HTTP:0 listen.otlp_http: "4318" is not an address'], '', { TRACEJURY_LISTEN_OTLP_HTTP: '4318' }, {}],
  [['TRACEJURY_LISTEN_OTLP_HTTP:0 listen.otlp_http: "4318" is not an address'], '', { TRACEJURY_LISTEN_OTLP_HTTP: '4318' }, { port: 1 }],
  [['TRACEJURY_LISTEN_INSECURE:0 listen.insecure: "yes" is a text, not true or false'], '', { TRACEJURY_LISTEN_INSECURE: 'yes' }, {}],
  [
    ['TRACEJURY_LISTEN_CONSOLE:0 listen.console: "0.0.0.0:1" is open to other machines without a token'],
    '',
    { TRACEJURY_LISTEN_CONSOLE: '0.0.0.0:1' },
    {},
  ],
  [['--port:0 listen.otlp_http: "127.0.0.1:70000" is not an address'], '', {}, { port: 70_000 }],
  [['TRACEJURY_STORE_URL:0 store.url: is not a store'], '', { TRACEJURY_STORE_URL: 'mysql://u:s3cret@h/d' }, {}],
  [['TRACEJURY_JOURNAL_URL:0 journal.url: is not a journal'], '', { TRACEJURY_JOURNAL_URL: 'nowhere' }, {}],
  // Other faults of the file are reported with their line.
  [
    [
      'TRACEJURY_LOG_LEVEL:0 log.level: "loud" is not one of the values here',
      'a.yaml:1 log.colour: is not a known key herelog: { colour: red }',
    ],
    'log: { colour: red }',
    { TRACEJURY_LOG_LEVEL: 'loud' },
    {},
  ],
  [['a.yaml:1 log: is a text, not a mappinglog: quiet'], 'log: quiet', { TRACEJURY_LOG_LEVEL: 'info' }, {}],
];
test.each(faulty)('%j is reported for the file %j, %j and %j', (want, text, env, flags) => {
  expect(faults(text, env, flags)).toEqual(want);
});

test('a level of other SDKs that is none is a warning, and the default holds', () => {
  const { config, warnings } = load('', { OTEL_LOG_LEVEL: 'loud' });
  expect(config.log.level).toBe('info');
  expect(warnings).toMatchObject([{ file: 'OTEL_LOG_LEVEL', key: 'log.level', problem: '"loud" is not a level' }]);
});

test('what is printed as effective has the values of the environment, and a new one is another configuration', () => {
  const [one, other] = [load('', { TRACEJURY_LOG_LEVEL: 'warn' }), load('', {})];
  expect(one.printed).toMatchObject({ log: { format: 'auto', level: 'warn' } });
  expect(one.fingerprints.restart.get('log.level')).not.toBe(other.fingerprints.restart.get('log.level'));
});
