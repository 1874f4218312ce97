/** Reads entries of `export`, and finds faults that the schema cannot express. */
import { isIP } from 'node:net';
import type { ExporterConfig } from '../config.ts';
import { type Finding, type Path, finding } from '../diagnostic.ts';
import type { Draft } from '../field.ts';
import { environmentHeaders, type Signal, signalEndpoint } from './address.ts';
import { forwardDefaults, type WrittenExporter } from '../sections/export.ts';
import type { Environment } from '../document.ts';
import { isPublicAddress } from '../../exporters/delivery/ssrf-guard.ts';
import { scoreApis } from '../../exporters/index.ts';
import {
  type ScoreApiBackend,
  type ScoreApiKey,
  scoreApiKeyNames,
  type ScoreApiSettings,
} from '../../exporters/scores/score-api-backend.ts';
import { verdictOutcomes, type WebhookSettings } from '../../exporters/settings.ts';
import { secretBytes } from '../../exporters/webhook/webhook.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { type KnownEvaluators, meantEvaluator } from '../../model/did-you-mean.ts';
import { type JsonObject, member } from '../../model/json.ts';
import { present } from '../../model/present.ts';

type Exporter = Draft<WrittenExporter>;

/** `certificates`: the read certificates of the entry. */
interface Around {
  readonly env: Environment;
  readonly tls: ClientTls | undefined;
  /** Address of the console, for links. */
  readonly console: string | undefined;
}

/** `raw`: the entry of the file. */
export function exporterEntry(written: WrittenExporter, raw: JsonObject, { env, tls: certificates, console }: Around): ExporterConfig {
  const { to, protocol } = written;
  const headers = (signal: Signal) => (Object.keys(written.headers).length === 0 ? environmentHeaders(signal, env) : written.headers);
  const url = (signal: Signal): string | undefined => signalEndpoint(signal, written.endpoint, env);
  const tls = certificates === undefined ? {} : { tls: certificates };
  const name = exporterName(written);
  const { missingMs, ...giveUp } = written.giveUp;
  const native = scoreApis.find(({ id }) => id === to);
  if (native !== undefined) {
    const { endpoint = '', keys } = nativeGiven(native, raw, env);
    return { to: native.id, name, giveUp: { ...giveUp, missingMs }, endpoint, headers: written.headers, keys, ...tls };
  }
  const traces = { tracesEndpoint: url('traces') ?? '', headers: headers('traces') };
  switch (to) {
    case 'webhook':
      return { to, name, giveUp, headers: written.headers, webhook: webhookSettings(written, console), ...tls };
    case 'log_events':
      return { to, name, giveUp, logsEndpoint: url('logs') ?? '', headers: headers('logs'), protocol, ...tls };
    case 'forward': {
      const { compression = forwardDefaults.compression, holdMs = forwardDefaults.holdMs } = written;
      return { to, name, giveUp, ...traces, protocol: protocol === 'grpc' ? protocol : 'http/protobuf', compression, holdMs, ...tls };
    }
    case 'span_events': {
      const { judgeCalls, detail } = written;
      return { to, name, giveUp, ...traces, protocol, judgeCalls, ...(detail === undefined ? {} : { detail }), ...tls };
    }
    default: {
      const { intervalMs, temporality } = written;
      const place = url('metrics');
      const push = place === undefined ? {} : { push: { url: place, headers: headers('metrics'), intervalMs, temporality, ...tls } };
      return { to: 'metrics', name, ...push };
    }
  }
}

/** Default: the kind of the entry. */
export function exporterName({ name, to }: Exporter): string {
  return name ?? to ?? '';
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

/** `raw`: the entry of the file. */
export function nativeFindings(backend: ScoreApiBackend, raw: JsonObject, path: Path, env: Environment): readonly Finding[] {
  const { endpoint, keys } = nativeGiven(backend, raw, env);
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
      .filter((name) => backend.keys[name] === undefined && member(raw, name) !== undefined)
      .map((name): Finding => finding([...path, name], 'key', `means nothing for ${backend.id}`, `Leave it out${ownKeys(backend)}.`)),
    ...((member(raw, 'protocol') ?? 'http/protobuf') !== 'http/protobuf'
      ? [finding([...path, 'protocol'], 'key', `means nothing for ${backend.id}`, 'Leave it out.')]
      : []),
  ];
}

function ownKeys(backend: ScoreApiBackend): string {
  const names = Object.keys(backend.keys);
  return names.length === 0 ? '' : `: it takes ${names.join(', ')}`;
}

export function forwardFindings(list: readonly Exporter[], index: number, redacts: boolean): readonly Finding[] {
  const path = ['export', index];
  return [
    ...(list.findIndex(({ to }) => to === 'forward') < index
      ? [finding(path, 'value', 'is a second forward', 'Keep one: a Collector behind it can send to several backends.')]
      : []),
    ...(list[index]?.protocol === 'http/json'
      ? [finding([...path, 'protocol'], 'value', 'cannot be used with forward', 'Leave it out: forward sends spans as protobuf.')]
      : []),
    ...(redacts
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

const secretBytesMin = 24;

function webhookSettings(
  { endpoint = '', secret, body, link, only, perMinute, privateAddresses }: WrittenExporter,
  console: string | undefined,
): WebhookSettings {
  return present({
    url: endpoint,
    secret,
    body,
    link,
    console,
    only: { ...only, verdicts: verdictOutcomes.filter((one) => only.verdicts.includes(one)) },
    perMinute,
    privateAddresses,
  });
}

export function webhookFindings(entry: Exporter, path: Path, evaluators: KnownEvaluators): readonly Finding[] {
  const { endpoint, only } = entry;
  if (endpoint === undefined) return [finding(path, 'value', 'lacks endpoint', 'Add the URL that the messages go to.')];
  const host = URL.parse(endpoint)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  const isInside = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host));
  return [
    ...(isInside && entry.privateAddresses !== true
      ? [finding([...path, 'endpoint'], 'value', 'is a private address', 'Name a public address, or set private_addresses: true.')]
      : []),
    ...secretFindings(entry, path),
    // An unknown name would never match.
    ...(only?.evaluators ?? []).flatMap((name, index): readonly Finding[] =>
      name === undefined || evaluators.on.includes(name)
        ? []
        : [
            finding(
              [...path, 'only', 'evaluators', index],
              'value',
              `no evaluator is named ${name}`,
              meantEvaluator(name, evaluators, `Write one of ${evaluators.on.join(', ')}.`),
            ),
          ],
    ),
  ];
}

function secretFindings({ secret, body }: Exporter, path: Path): readonly Finding[] {
  if (secret === undefined)
    return body === 'slack'
      ? []
      : [finding(path, 'value', 'lacks secret', 'Add one: the signature proves the origin of a message. Only body: slack needs none.')];
  if (secretBytes(secret).length >= secretBytesMin) return [];
  return [finding([...path, 'secret'], 'value', `is shorter than ${secretBytesMin} bytes`, 'Make a random one: openssl rand -base64 32.')];
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
  const endpoint = typeof written === 'string' ? written : undefined;
  return signal === undefined ? endpoint : signalEndpoint(signal, endpoint, env);
}
