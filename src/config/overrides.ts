/** Applies flags and environment variables to a configuration. Flags override the environment, and that overrides the file. */
import { isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';
import { addressOf } from './entries/address.ts';
import type { ConfigDocument, Environment } from './document.ts';
import { asObject, type ConfigFault, objectAt, type Path, pathText, ownMembers } from './diagnostic.ts';
import { logLevels } from './sections/operation.ts';

/** Unchecked values of the command line. */
export interface ConfigFlags {
  /** Port of OTLP over HTTP; the host stays. */
  readonly port?: number;
  readonly logLevel?: string;
}

/** A document with the origins of overridden values. */
export interface OverriddenDocument {
  readonly document: ConfigDocument;
  /** The variable or flag, by the text of the path. */
  readonly origins: ReadonlyMap<string, string>;
  readonly warnings: readonly ConfigFault[];
}

interface Override {
  /** Section and key. */
  readonly path: readonly [string, string];
  readonly origin: string;
  readonly value: JsonValue;
}

interface Variable {
  readonly name: string;
  readonly path: Override['path'];
  readonly read: (text: string) => JsonValue;
}

const asText = (text: string): string => text;
const asWord = (text: string): string => text.toLowerCase();
/** Reads booleans as OpenTelemetry does; the schema refuses any other text. */
const asBoolean = (text: string): JsonValue => ({ true: true, false: false })[text.toLowerCase()] ?? text;

export const configVariables: readonly Variable[] = [
  { name: 'TRACEJURY_LISTEN_OTLP_HTTP', path: ['listen', 'otlp_http'], read: asText },
  { name: 'TRACEJURY_LISTEN_OTLP_GRPC', path: ['listen', 'otlp_grpc'], read: asText },
  { name: 'TRACEJURY_LISTEN_CONSOLE', path: ['listen', 'console'], read: asText },
  { name: 'TRACEJURY_LISTEN_INSECURE', path: ['listen', 'insecure'], read: asBoolean },
  { name: 'TRACEJURY_LOG_LEVEL', path: ['log', 'level'], read: asWord },
  { name: 'TRACEJURY_LOG_FORMAT', path: ['log', 'format'], read: asWord },
  { name: 'TRACEJURY_STORE_URL', path: ['store', 'url'], read: asText },
  { name: 'TRACEJURY_JOURNAL_URL', path: ['journal', 'url'], read: asText },
];

const sdkLevelName = 'OTEL_LOG_LEVEL';
/** Log levels of OpenTelemetry SDKs under other names. */
const sdkLevels: { readonly [word: string]: string } = { none: 'silent', verbose: 'trace', all: 'trace' };

export function overriddenDocument(document: ConfigDocument, env: Environment, flags: ConfigFlags = {}): OverriddenDocument {
  if (document.broken || !isJsonObject(document.value)) return { document, origins: new Map(), warnings: [] };
  const given = configVariables.flatMap(({ name, path, read }) => {
    const text = setVariable(env, name);
    return text === undefined ? [] : [{ path, origin: name, value: read(text) }];
  });
  const written = given.reduce<JsonObject>(laidOver, document.value);
  const sdk = sdkLevel(written, env);
  const value = [...sdk.overrides, ...flagOverrides(written, flags)].reduce<JsonObject>(laidOver, written);
  const origins = new Map(
    [...given, ...sdk.overrides, ...flagOverrides(written, flags)].map(({ path, origin }) => [pathText(path), origin] as const),
  );
  return {
    document: { ...document, value, substituted: (path: Path) => (origins.has(pathText(path)) ? undefined : document.substituted(path)) },
    origins,
    warnings: sdk.warnings,
  };
}

/** An empty variable counts as unset, as in OpenTelemetry. */
function setVariable(env: Environment, name: string): string | undefined {
  const text = Object.hasOwn(env, name) ? env[name] : undefined;
  return text === '' ? undefined : text;
}

/** A section that is not a mapping stays: the schema reports it. */
function laidOver(value: JsonObject, { path: [section, key], value: given }: Override): JsonObject {
  const below = member(value, section);
  if (below !== undefined && !isJsonObject(below)) return value;
  return ownMembers([...Object.entries(value), [section, ownMembers([...Object.entries(asObject(below)), [key, given]])]]);
}

/** OTEL_LOG_LEVEL is for every SDK of the process: it applies only without another level, and an unknown level is a warning. */
function sdkLevel(
  written: JsonObject,
  env: Environment,
): { readonly overrides: readonly Override[]; readonly warnings: readonly ConfigFault[] } {
  const text = setVariable(env, sdkLevelName);
  if (text === undefined || member(objectAt(written, 'log'), 'level') !== undefined) return { overrides: [], warnings: [] };
  const word = asWord(text);
  const level = Object.hasOwn(sdkLevels, word) ? sdkLevels[word] : word;
  if (logLevels.some((known) => known === level))
    return { overrides: [{ path: ['log', 'level'], origin: sdkLevelName, value: level ?? word }], warnings: [] };
  const todo = `Use one of ${[...logLevels, ...Object.keys(sdkLevels)].join(', ')}. The level is info until then.`;
  return {
    overrides: [],
    warnings: [
      {
        file: sdkLevelName,
        line: 0,
        column: 0,
        key: 'log.level',
        problem: `${JSON.stringify(text.slice(0, 100))} is not a level`,
        todo,
        source: '',
      },
    ],
  };
}

function flagOverrides(written: JsonObject, { port, logLevel }: ConfigFlags): readonly Override[] {
  const overrides: Override[] = [];
  if (logLevel !== undefined) overrides.push({ path: ['log', 'level'], origin: '--log-level', value: asWord(logLevel) });
  const address = member(objectAt(written, 'listen'), 'otlp_http') ?? '127.0.0.1:0';
  const { host } = (typeof address === 'string' ? addressOf(address) : undefined) ?? {};
  // The message quotes a wrong address unchanged.
  if (port !== undefined && host !== undefined)
    overrides.push({ path: ['listen', 'otlp_http'], origin: '--port', value: `${host.includes(':') ? `[${host}]` : host}:${port}` });
  return overrides;
}
