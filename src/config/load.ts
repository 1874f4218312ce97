/** Loads a configuration: reads, substitutes, checks and fills in defaults. Reports all faults at once. */
import type { AnyEvaluator } from '../../evaluators/evaluator.ts';
import { isJsonObject, type JsonObject, type JsonValue, isJsonArray, member } from '../model/json.ts';
import { checkedBySchema, type SchemaCheck, schemaValidators, type Validators } from './checks/check.ts';
import { clientTlsFiles, type ClientTlsFiles, clientTlsUnread, tlsFiles, type TlsFiles, tlsPlaces, tlsUnread } from './files/tls-files.ts';
import type { Config } from './config.ts';
import { crossCheck } from './checks/cross-checks.ts';
import { leadsBack } from './entries/address.ts';
import { ownTraces, withOwnTraces } from './entries/own-traces.ts';
import { configFileText, toolDefinitions, toolFiles, type ToolFiles, toolFindings } from './files/tool-files.ts';
import { type ConfigDocument, type Environment, parseConfigText } from './document.ts';
import { driftFaults, driftFiles, type DriftFiles } from './files/drift-files.ts';
import { processFiles, type ProcessFiles, withProcessModels } from './files/process-files.ts';
import { resolveConfig, resolveValue } from './resolve.ts';
import { isRule, placedEntries, sharedSections, withListPrices, withSharedOptions } from './entries/evaluator-entry.ts';
import {
  allEvaluators,
  evaluatorFiles,
  type EvaluatorFiles,
  type EvaluatorModules,
  withEvaluatorIds,
  withEvaluatorPaths,
} from './files/evaluator-files.ts';
import {
  asObject,
  ConfigError,
  objectAt,
  type ConfigFault,
  type Finding,
  type Path,
  pathText,
  ownMembers,
  withMember,
} from './diagnostic.ts';
import { overriddenDocument, type ConfigFlags, type OverriddenDocument } from './overrides.ts';
import { fingerprintsOf, type Fingerprints } from './fingerprint.ts';
import { configSchema, schemaInUse, withDefaults } from './schema.ts';
import { masked, maskedLine, secretPaths } from './secrets.ts';
import { defaultsEntry } from './sections/evaluators.ts';
import { readSections } from './sections/index.ts';
import { withContentPerMinute } from './sections/storage.ts';

interface ConfigSource {
  /** Its name in faults. */
  readonly file: string;
  readonly text: string;
  readonly env: Environment;
  /** Command line flags override the environment and the file. */
  readonly flags?: ConfigFlags;
  readonly evaluators: readonly AnyEvaluator[];
  /** Time at which certificates must be valid, in epoch milliseconds. Default: now. */
  readonly nowMs?: number;
  /** Loaded evaluator modules, for a configuration that is read more than once. */
  readonly modules?: EvaluatorModules;
  /** Compiled schemas, for the same. */
  readonly validators?: Validators;
}

interface NamedFiles {
  readonly evaluators: EvaluatorFiles;
  readonly tools: ToolFiles;
  readonly drift: DriftFiles;
  readonly processes: ProcessFiles;
  readonly tls: TlsFiles;
  readonly clientTls: ClientTlsFiles;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Built-in evaluators, then those of files. */
  readonly evaluators: readonly AnyEvaluator[];
  /** The resolved configuration in the form of the file, with masked secrets. */
  readonly printed: JsonValue;
  /** Probable mistakes, in the order of the file. */
  readonly warnings: readonly ConfigFault[];
  /** Sections with options of evaluators, for entries of other files. */
  readonly shared: JsonObject;
  readonly fingerprints: Fingerprints;
  /** Variables of the environment that the configuration takes secrets from, or that hold the same value as one of them. */
  readonly secretVariables: readonly string[];
}

/** Reads a file, or the defaults without a file. Rejects with a ConfigError with all faults. */
export async function readConfig(
  options: Omit<ConfigSource, 'file' | 'text'> & { readonly file: string | undefined },
): Promise<LoadedConfig> {
  const { file, ...rest } = options;
  return await loadConfigWithFiles({ file: file ?? 'defaults', text: file === undefined ? '' : configFileText(file), ...rest });
}

/** Imports evaluators and reads tool definitions and certificates of the named files first. */
export async function loadConfigWithFiles(source: ConfigSource): Promise<LoadedConfig> {
  const { file, text, env, evaluators, nowMs = Date.now(), modules } = source;
  const overridden = overriddenDocument(parseConfigText(text, env), env, source.flags);
  const { document } = overridden;
  return loaded(source, overridden, {
    evaluators: await evaluatorFiles({ file, document, evaluators, ...(modules === undefined ? {} : { modules }) }),
    tools: toolFiles(file, document),
    drift: driftFiles(file, document),
    processes: processFiles({ file, document, evaluators }),
    tls: tlsFiles({ file, document, nowMs }),
    clientTls: clientTlsFiles(tlsPlaces({ file, document, env }), nowMs),
  });
}

/** Reads no other files: each named one is a fault. Throws a ConfigError with all faults. */
export function loadConfig(source: ConfigSource): LoadedConfig {
  const overridden = overriddenDocument(parseConfigText(source.text, source.env), source.env, source.flags);
  const { document } = overridden;
  return loaded(source, overridden, {
    evaluators: new Map(),
    tools: new Map(),
    drift: new Map(),
    processes: new Map(),
    tls: tlsUnread(document),
    clientTls: clientTlsUnread(tlsPlaces({ file: '', document, env: {} })),
  });
}

function loaded(source: ConfigSource, overridden: OverriddenDocument, files: NamedFiles): LoadedConfig {
  const { env, validators = schemaValidators() } = source;
  const { document } = overridden;
  const evaluators = allEvaluators(source.evaluators, files.evaluators);
  const schema = configSchema(evaluators);
  const named = withEvaluatorIds(document.value, files.evaluators);
  const modelled = withProcessModels(named.value, files.processes, evaluators);
  const { value, check } = checked(schema, { ...document, value: modelled.value }, validators);
  const filled = withDefaults(schema, withContentPerMinute(value));
  const usable = isJsonObject(filled) ? filled : ownMembers([]);
  const cross = document.broken
    ? []
    : crossCheck({ value: usable, members: evaluators, env, refused: check.findings.map(({ path }) => path) });
  const findings = document.broken
    ? []
    : [
        ...named.findings,
        ...modelled.findings,
        ...check.findings,
        ...cross,
        ...toolFindings(value, files.tools),
        ...files.tls.findings,
        ...files.clientTls.findings,
      ];
  const faults = [...located(source, overridden, schema, value, findings), ...(document.broken ? [] : driftFaults(value, files.drift))];
  if (faults.length > 0) throw new ConfigError(faults);
  const priced = withListPrices(usable);
  const whole = withSharedOptions(priced, evaluators);
  const [tools, tls] = [toolDefinitions(usable, files.tools), files.tls.tls];
  const { telemetry, listen } = readSections(usable);
  const { traces } = ownTraces(telemetry, env, leadsBack(listen));
  return {
    config: resolveConfig({
      value: whole,
      members: evaluators,
      entryIndexes: placedEntries(usable, evaluators).map(({ index }) => index),
      env,
      tools,
      drift: files.drift,
      tls,
      clientTls: files.clientTls.tls,
    }),
    evaluators,
    printed: withEvaluatorPaths(
      asObject(
        masked(
          schema,
          resolveValue({ value: withOwnTraces(withMember(whole, 'prices', objectAt(usable, 'prices')), traces), members: evaluators }),
        ),
      ),
      files.evaluators,
    ),
    warnings: [
      ...overridden.warnings,
      ...located(source, overridden, schema, value, configWarnings({ written: value, members: evaluators, filled: usable, env })),
    ],
    shared: sharedSections(evaluators, priced),
    fingerprints: fingerprintsOf({
      schema,
      value: whole,
      files: {
        evaluators: [
          ...[...files.evaluators.values()].map(({ print = '' }) => print),
          ...[...files.drift.values()].map((read) => (read.kind === 'read' ? read.print : '')),
        ],
        tools: tools as unknown as JsonValue,
        'listen.tls': (tls ?? null) as unknown as JsonValue,
        ...Object.fromEntries(
          ['judges', 'evaluators', 'export'].map((section) => [
            `${section}.tls`,
            [...files.clientTls.tls].filter(([place]) => place.startsWith(section)),
          ]),
        ),
      },
    }),
    secretVariables: secretVariables(overridden, schema, env),
  };
}

/** A shorter text may be the value of a variable by chance. */
const secretCharsMin = 8;

function secretVariables({ document, origins }: OverriddenDocument, schema: JsonObject, env: Environment): readonly string[] {
  const named = new Set(secretPaths(schema, document.value).flatMap((path) => origins.get(pathText(path)) ?? document.variables(path)));
  const values = new Set([...named].map((name) => env[name] ?? '').filter((value) => value.length >= secretCharsMin));
  return Object.keys(env).filter((name) => named.has(name) || values.has(env[name] ?? ''));
}

/** Keeps a substituted number as text where the schema needs a text: a token may be all digits. */
function checked(
  schema: JsonObject,
  document: ConfigDocument,
  validators: Validators,
): { readonly value: JsonValue; readonly check: SchemaCheck } {
  const secrets = new Set(secretPaths(schema, document.value).map((path) => JSON.stringify(path)));
  const hidden = (path: Path): boolean => document.substituted(path) !== undefined || secrets.has(JSON.stringify(path));
  const check = (value: JsonValue): SchemaCheck => checkedBySchema({ schema: schemaInUse(schema, value), value, hidden, validators });
  const first = check(document.value);
  const texts = first.wantText.map((path) => ({ path, text: document.substituted(path) })).filter(({ text }) => text !== undefined);
  if (texts.length === 0) return { value: document.value, check: first };
  const value = texts.reduce((whole, { path, text }) => replaced(whole, path, text ?? ''), document.value);
  return { value, check: check(value) };
}

function replaced(value: JsonValue, path: Path, text: string): JsonValue {
  const [part, ...rest] = path;
  if (part === undefined) return text;
  if (Array.isArray(value)) return value.map((item: JsonValue, index) => (index === part ? replaced(item, rest, text) : item));
  return isJsonObject(value)
    ? ownMembers(Object.entries(value).map(([name, item]) => [name, name === part ? replaced(item, rest, text) : item]))
    : value;
}

function located(
  source: ConfigSource,
  { document, origins }: OverriddenDocument,
  schema: JsonObject,
  value: JsonValue,
  findings: readonly Finding[],
): readonly ConfigFault[] {
  const secrets = secretPaths(schema, value)
    .filter((path) => !origins.has(pathText(path)))
    .map((path) => document.place(path));
  const at = (offset: number, key: string, problem: string, todo: string): ConfigFault => {
    const { line, col: column } = document.lines.linePos(Math.min(offset, Math.max(source.text.length - 1, 0)));
    return {
      file: source.file,
      line: Math.max(line, 1),
      column: Math.max(column, 1),
      key,
      problem,
      todo,
      source: maskedLine({ text: source.text, line, document, secrets }),
    };
  };
  const syntax = document.faults.map(({ offset, key, problem, todo }) => at(offset, key, problem, todo));
  const taken = new Set(syntax.map(({ key }) => key).filter((key) => key !== ''));
  const rest = findings.flatMap((finding) => {
    const key = pathText(finding.path);
    const lacking = /^lacks (\S+)$/.exec(finding.problem)?.[1];
    // A member with an unset variable has its fault already.
    if (taken.has(key) || (lacking !== undefined && taken.has(pathText([...finding.path, lacking])))) return [];
    if (!finding.problem.startsWith('lacks ')) taken.add(key);
    const origin = origins.get(key);
    if (origin !== undefined) return [{ file: origin, line: 0, column: 0, key, problem: finding.problem, todo: finding.todo, source: '' }];
    const place = document.place(finding.path);
    return [at(finding.at === 'key' ? place.key : place.value, key, finding.problem, finding.todo)];
  });
  return [...syntax, ...rest].toSorted((a, b) => a.line - b.line || a.column - b.column);
}

interface Warned {
  /** The value of the file. */
  readonly written: JsonValue;
  readonly members: readonly AnyEvaluator[];
  /** The same with defaults. */
  readonly filled: JsonObject;
  readonly env: Environment;
}

/** Probable mistakes in a configuration without faults. */
function configWarnings({ written, members, filled, env }: Warned): readonly Finding[] {
  const { telemetry, listen } = readSections(filled);
  const { warnings } = ownTraces(telemetry, env, leadsBack(listen));
  return isJsonObject(written) ? [...withoutRules(written, members), ...warnings] : warnings;
}

/** A list replaces the default evaluators: a list of judge evaluators switches all rules off. */
function withoutRules(written: JsonObject, members: readonly AnyEvaluator[]): readonly Finding[] {
  if (!isJsonArray(member(written, 'evaluators'))) return [];
  const entries = placedEntries(written, members);
  const place = { path: ['evaluators'], at: 'key' } as const;
  if (entries.length === 0)
    return [{ ...place, problem: 'is empty, so no run is scored', todo: `Add ${defaultsEntry}, or leave evaluators out.` }];
  if (entries.some((entry) => isRule(entry.evaluator, entry.written))) return [];
  const off = members.filter(({ onByDefault }) => onByDefault).map(({ id }) => id);
  return [
    {
      ...place,
      problem: `names no rule, so the rules that are on without a list are off: ${off.join(', ')}`,
      todo: `Add the entry ${defaultsEntry} to keep them.`,
    },
  ];
}
