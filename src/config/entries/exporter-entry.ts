/** Reads entries of `export`, and finds faults that the schema cannot express. */
import { isIP } from 'node:net';
import type { ExporterConfig } from '../config.ts';
import { type Finding, listAt, objectAt, type Path, finding } from '../diagnostic.ts';
import { environmentHeaders, type Signal, signalEndpoint } from './address.ts';
import { forwardDefaults, webhookDefaults } from '../sections/export.ts';
import type { Environment } from '../document.ts';
import { isPublicAddress } from '../../exporters/delivery/ssrf-guard.ts';
import type { ForwardSettings } from '../../exporters/forward/forwarder.ts';
import { scoreApis } from '../../exporters/index.ts';
import { spanDetails } from '../../exporters/otlp/evaluation-span.ts';
import {
  type ScoreApiBackend,
  type ScoreApiKey,
  scoreApiKeyNames,
  type ScoreApiSettings,
} from '../../exporters/scores/score-api-backend.ts';
import { type OtlpProtocol, otlpProtocols, verdictOutcomes, type WebhookSettings } from '../../exporters/settings.ts';
import { secretBytes } from '../../exporters/webhook/webhook.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { type KnownEvaluators, meantEvaluator } from '../../model/did-you-mean.ts';
import { type JsonObject, member } from '../../model/json.ts';
import { quantityOf } from '../../model/quantities.ts';

/** `certificates`: the read certificates of the entry. */
interface Around {
  readonly env: Environment;
  readonly tls: ClientTls | undefined;
  /** Address of the console, for links. */
  readonly console: string | undefined;
}

export function exporterEntry(written: JsonObject, { env, tls: certificates, console }: Around): ExporterConfig {
  const [name, to] = [exporterName(written), member(written, 'to')];
  const given = Object.fromEntries(Object.entries(objectAt(written, 'headers')).map(([header, value]) => [header, String(value)] as const));
  const headers = (signal: Signal) => (Object.keys(given).length === 0 ? environmentHeaders(signal, env) : given);
  const url = (signal: Signal): string | undefined => signalEndpoint(signal, member(written, 'endpoint'), env);
  const tls = certificates === undefined ? {} : { tls: certificates };
  const giveUp = {
    attempts: Number(member(objectAt(written, 'give_up'), 'attempts')),
    ageMs: duration(objectAt(written, 'give_up'), 'age'),
  };
  const native = scoreApis.find(({ id }) => id === to);
  if (native !== undefined) {
    const { endpoint = '', keys } = nativeGiven(native, written, env);
    return {
      to: native.id,
      name,
      giveUp: { ...giveUp, missingMs: duration(objectAt(written, 'give_up'), 'missing') },
      endpoint,
      headers: given,
      keys,
      ...tls,
    };
  }
  const traces = { tracesEndpoint: url('traces') ?? '', headers: headers('traces') };
  switch (to) {
    case 'webhook':
      return { to, name, giveUp, headers: given, webhook: webhookSettings(written, console), ...tls };
    case 'log_events':
      return { to, name, giveUp, logsEndpoint: url('logs') ?? '', headers: headers('logs'), protocol: otlpProtocol(written), ...tls };
    case 'forward':
      return { to, name, giveUp, ...forwardSettings(written, traces), ...tls };
    case 'span_events': {
      const detail = spanDetails.find((one) => one === member(written, 'detail'));
      const judgeCalls = member(written, 'judge_calls') !== false;
      return {
        to,
        name,
        giveUp,
        ...traces,
        protocol: otlpProtocol(written),
        judgeCalls,
        ...(detail === undefined ? {} : { detail }),
        ...tls,
      };
    }
    default: {
      const place = url('metrics');
      const temporality = member(written, 'temporality') === 'delta' ? 'delta' : 'cumulative';
      return {
        to: 'metrics',
        name,
        ...(place === undefined
          ? {}
          : { push: { url: place, headers: headers('metrics'), intervalMs: duration(written, 'interval'), temporality, ...tls } }),
      };
    }
  }
}

function otlpProtocol(written: JsonObject): OtlpProtocol {
  return otlpProtocols.find((one) => one === member(written, 'protocol')) ?? 'http/protobuf';
}

function duration(from: JsonObject, key: string): number {
  return quantityOf('duration', member(from, key)) ?? 0;
}

/** Default: the kind of the entry. */
export function exporterName(entry: JsonObject): string {
  const [name, to] = [member(entry, 'name'), member(entry, 'to')];
  return typeof name === 'string' ? name : typeof to === 'string' ? to : '';
}

/** Endpoint and keys of a backend with a score API, from the entry or the usual variables of the backend. */
interface NativeGiven {
  readonly endpoint: string | undefined;
  readonly keys: ScoreApiSettings['keys'];
}

function nativeGiven(backend: ScoreApiBackend, entry: JsonObject, env: Environment): NativeGiven {
  const keys = scoreApiKeyNames.flatMap((name) => {
    const key = backend.keys[name];
    const value = key === undefined ? undefined : given(key, member(entry, name), env);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { endpoint: given(backend.endpoint, member(entry, 'endpoint'), env), keys: Object.fromEntries(keys) };
}

function given({ variables, preset, ofVariable = (text) => text }: ScoreApiKey, written: unknown, env: Environment): string | undefined {
  if (typeof written === 'string' && written !== '') return written;
  const found = variables.map((variable) => env[variable]).find((value) => value !== undefined && value !== '');
  return (found === undefined ? undefined : ofVariable(found)) ?? preset;
}

export function nativeFindings(options: {
  readonly backend: ScoreApiBackend;
  readonly entry: JsonObject;
  readonly path: Path;
  readonly env: Environment;
}): readonly Finding[] {
  const { backend, entry, path, env } = options;
  const { endpoint, keys } = nativeGiven(backend, entry, env);
  const wanted = [
    ['endpoint', backend.endpoint, endpoint] as const,
    ...scoreApiKeyNames.map((name) => [name, backend.keys[name], keys[name]] as const),
  ];
  const isUrl = endpoint !== undefined && /^https?:$/.test(URL.parse(endpoint)?.protocol ?? '');
  return [
    ...wanted.flatMap(([name, key, value]): readonly Finding[] =>
      key?.isRequired === true && value === undefined
        ? [finding(path, 'value', `lacks ${name}`, `Add it, or set ${key.variables.join(' or ')}.`)]
        : [],
    ),
    ...(endpoint === undefined || isUrl
      ? []
      : [
          finding(
            path,
            'value',
            'has an endpoint that is not a URL',
            `Write endpoint, or ${backend.endpoint.variables.join(' or ')}, with http:// or https://.`,
          ),
        ]),
    ...scoreApiKeyNames
      .filter((name) => backend.keys[name] === undefined && member(entry, name) !== undefined)
      .map((name): Finding => finding([...path, name], 'key', `means nothing for ${backend.id}`, `Leave it out${ownKeys(backend)}.`)),
    ...((member(entry, 'protocol') ?? 'http/protobuf') !== 'http/protobuf'
      ? [finding([...path, 'protocol'], 'key', `means nothing for ${backend.id}`, 'Leave it out.')]
      : []),
  ];
}

function ownKeys(backend: ScoreApiBackend): string {
  const names = Object.keys(backend.keys);
  return names.length === 0 ? '' : `: it takes ${names.join(', ')}`;
}

interface Entry {
  /** The whole configuration. */
  readonly value: JsonObject;
  /** All entries of `export`. */
  readonly list: readonly JsonObject[];
  readonly item: JsonObject;
  readonly index: number;
}

export function forwardFindings({ value, list, item, index }: Entry): readonly Finding[] {
  const path = ['export', index];
  return [
    ...(list.findIndex((other) => member(other, 'to') === 'forward') < index
      ? [finding(path, 'value', 'is a second forward', 'Keep one: a Collector behind it can send to several backends.')]
      : []),
    ...(member(item, 'protocol') === 'http/json'
      ? [finding([...path, 'protocol'], 'value', 'cannot be used with forward', 'Leave it out: forward sends spans as protobuf.')]
      : []),
    ...(listAt(value, 'redact').length > 0
      ? [
          finding(
            path,
            'value',
            'cannot be used with redact',
            'Leave one out: forward sends spans unchanged, so redact has no effect on them. A Collector behind it can redact.',
          ),
        ]
      : []),
  ];
}

/** `place`: endpoint and headers, as for every OTLP exporter. */
function forwardSettings(written: JsonObject, place: Pick<ForwardSettings, 'tracesEndpoint' | 'headers'>): ForwardSettings {
  return {
    ...place,
    protocol: member(written, 'protocol') === 'grpc' ? 'grpc' : 'http/protobuf',
    compression: member(written, 'compression') === 'gzip' ? 'gzip' : forwardDefaults.compression,
    holdMs: quantityOf('duration', member(written, 'hold') ?? forwardDefaults.hold) ?? 0,
  };
}

/** Keys of a webhook only. */
export const webhookKeys = ['secret', 'body', 'only', 'per_minute', 'private_addresses', 'link'] as const;

const secretBytesMin = 24;

function webhookSettings(written: JsonObject, console: string | undefined): WebhookSettings {
  const [only, secret, link, perMinute] = [
    objectAt(written, 'only'),
    member(written, 'secret'),
    member(written, 'link'),
    member(written, 'per_minute'),
  ];
  const verdicts = member(only, 'verdicts') === undefined ? webhookDefaults.verdicts : texts(only, 'verdicts');
  return {
    url: String(member(written, 'endpoint')),
    ...(typeof secret === 'string' ? { secret } : {}),
    body: member(written, 'body') === 'slack' ? 'slack' : 'json',
    ...(typeof link === 'string' ? { link } : {}),
    ...(console === undefined ? {} : { console }),
    only: {
      verdicts: verdictOutcomes.filter((one) => verdicts.includes(one)),
      labels: texts(only, 'labels'),
      evaluators: texts(only, 'evaluators'),
      agents: texts(only, 'agents'),
    },
    perMinute: typeof perMinute === 'number' ? perMinute : webhookDefaults.per_minute,
    privateAddresses: member(written, 'private_addresses') === true,
  };
}

export function webhookFindings(entry: JsonObject, path: Path, evaluators: KnownEvaluators): readonly Finding[] {
  const endpoint = member(entry, 'endpoint');
  if (typeof endpoint !== 'string') return [finding(path, 'value', 'lacks endpoint', 'Add the URL that the messages go to.')];
  const host = URL.parse(endpoint)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  const isInside = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host));
  return [
    ...(isInside && member(entry, 'private_addresses') !== true
      ? [finding([...path, 'endpoint'], 'value', 'is a private address', 'Name a public address, or set private_addresses: true.')]
      : []),
    ...secretFindings(entry, path),
    ...nameFindings(entry, path, evaluators),
  ];
}

function secretFindings(entry: JsonObject, path: Path): readonly Finding[] {
  const secret = member(entry, 'secret');
  if (secret === undefined)
    return member(entry, 'body') === 'slack'
      ? []
      : [finding(path, 'value', 'lacks secret', 'Add one: the signature proves the origin of a message. Only body: slack needs none.')];
  if (typeof secret !== 'string' || secretBytes(secret).length >= secretBytesMin) return [];
  return [finding([...path, 'secret'], 'value', `is shorter than ${secretBytesMin} bytes`, 'Make a random one: openssl rand -base64 32.')];
}

/** An unknown name would never match. */
function nameFindings(entry: JsonObject, path: Path, known: KnownEvaluators): readonly Finding[] {
  return texts(objectAt(entry, 'only'), 'evaluators').flatMap((name, index): readonly Finding[] => {
    if (known.on.includes(name)) return [];
    return [
      finding(
        [...path, 'only', 'evaluators', index],
        'value',
        `no evaluator is named ${name}`,
        meantEvaluator(name, known, `Write one of ${known.on.join(', ')}.`),
      ),
    ];
  });
}

function texts(from: JsonObject, key: string): readonly string[] {
  return listAt(from, key).filter((one) => typeof one === 'string');
}

const signals: ReadonlyMap<unknown, Signal> = new Map([
  ['span_events', 'traces'],
  ['forward', 'traces'],
  ['log_events', 'logs'],
  ['metrics', 'metrics'],
]);

/** The OTLP signal of an entry; `undefined` for other protocols. */
export function exportSignal(entry: JsonObject): Signal | undefined {
  return signals.get(member(entry, 'to'));
}

/** The destination of an entry, from the entry or a variable. */
export function exportUrl(entry: JsonObject, env: Environment): string | undefined {
  const [to, written] = [member(entry, 'to'), member(entry, 'endpoint')];
  const native = scoreApis.find(({ id }) => id === to);
  if (native !== undefined) return nativeGiven(native, entry, env).endpoint;
  const signal = exportSignal(entry);
  if (signal !== undefined) return signalEndpoint(signal, written, env);
  return typeof written === 'string' ? written : undefined;
}
