/** Proposes an entry of `dialects` for spans of an unknown SDK from the endings of their keys. Comments mark the parts to check. */
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import type { Collector, SpanRole } from '../../../collectors/collector.ts';
import { configuredCollector, dialectRoles, type DialectField } from '../../../collectors/configured/dialect.ts';
import { generic } from '../../../collectors/generic.ts';
import { collectors as builtIn } from '../../../collectors/index.ts';
import { keyEvidenceOf, type ScalarField } from '../../../collectors/parsing/key-evidence.ts';
import { guessedFields, guessedKindKey, guessedRoles } from './guessed-dialect.ts';
import type { SpanId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { readersAmong, spanReadingOf } from '../../pipeline/assembly/span-facts.ts';
import { dialectSettings } from '../../config/entries/dialect-entry.ts';
import { oneLine } from '../../model/one-line.ts';

/** The evidence for each field, and the roles of spans to read (default: all spans). */
const fields: readonly (readonly [field: DialectField, from: readonly ScalarField[], roles?: readonly SpanRole[]])[] = [
  ['tool.name', ['toolName'], ['tool']],
  ['tool.arguments', ['arguments', 'toolParameters', 'input'], ['tool']],
  ['tool.result', ['toolResult', 'output'], ['tool']],
  ['tool.call_id', ['callId'], ['tool']],
  ['tool.definitions', ['definitions'], ['agent', 'model']],
  ['agent.name', ['agentName']],
  ['input', ['input'], ['agent', 'workflow']],
  ['output', ['output'], ['agent', 'workflow', 'retriever']],
  ['input_messages', ['inputMessages', 'input'], ['model']],
  ['output_messages', ['outputMessages', 'output'], ['model']],
  ['system_prompt', ['systemPrompt'], ['agent', 'model']],
  ['model', ['model'], ['model']],
  ['input_tokens', ['inputTokens'], ['model']],
  ['output_tokens', ['outputTokens'], ['model']],
  ['session_id', ['sessionId']],
];

/** Scopes that get an entry, those with most spans first. */
const scopesMax = 20;
/** Bounds of the listed kinds and unused keys. */
const kindsMax = 50;
const keysMax = 40;
const noteCharsMax = 2_000;
/** Spans of a scope over which an entry is compared with the reader by evidence. */
const comparedMax = 300;

/** YAML with one entry for each scope; `undefined` when `collectors` know the SDK of every span. */
export function proposedDialects(spans: readonly Span[], collectors: readonly Collector[]): string | undefined {
  const unknown = spans.filter((span) =>
    readersAmong(collectors, span).every((reader) => reader.isConvention === true || reader === generic),
  );
  if (unknown.length === 0) return undefined;
  const scopes = [...Map.groupBy(unknown, ({ scope }) => scope.name)].sort(([, a], [, b]) => b.length - a.length).slice(0, scopesMax);
  const names = new Set<string>(builtIn.map(({ id }) => id));
  const entries = scopes.map(([scope, own]) => entry(scope, own, names, collectors));
  return [entries.every(({ isEmpty }) => isEmpty) ? 'dialects: []' : 'dialects:', ...entries.map(({ text }) => text)].join('\n');
}

/** An entry that reads nothing yet is a comment: the configuration refuses it. */
function entry(
  scope: string,
  spans: readonly Span[],
  names: Set<string>,
  collectors: readonly Collector[],
): { readonly text: string; readonly isEmpty: boolean } {
  const match = scope === '' ? { keys: sharedKeys(spans) } : { scope };
  const known = new Map(spans.map((span) => [span, generic.read(span).role]));
  const isGuessed = [...known].every(([span, role]) => role === undefined && !showsContent(span));
  const roles = isGuessed ? guessedRoles(spans) : known;
  const kindKey = isGuessed ? guessedKindKey(spans, roles) : kindKeyOf(spans);
  const conditions = conditionsOf(spans, roles, kindKey);
  // Evidence finds nothing in these spans, so there is nothing to compare a guess with.
  const { kept, dropped } = isGuessed
    ? { kept: { span: conditions.span, read: guessedFields(spans, roles, kindKey) }, dropped: [] }
    : asGoodAsEvidence({ span: conditions.span, read: readOf(spans, roles) }, match, spans, collectors);
  const isEmpty = Object.keys(kept.span).length + Object.keys(kept.read).length === 0;
  const value = {
    name: freeName(scope, names),
    match,
    ...(Object.keys(kept.span).length === 0 ? {} : { span: kept.span }),
    ...(Object.keys(kept.read).length === 0 ? {} : { read: kept.read }),
  };
  const used = new Set([
    ...Object.values(kept.read).map((place) => place.replace(/^json\((.*)\)\.\w+$/, '$1')),
    ...(Object.keys(kept.span).length === 0 ? [] : conditions.keys),
  ]);
  const notes = [
    `${spans.length} spans of the scope ${JSON.stringify(scope)}.`,
    ...(isGuessed && !isEmpty ? ['Guessed from places and values of spans: check each line.'] : []),
    ...conditions.notes,
    ...dropped.map((one) => `Not used, because evidence reads different values: ${one}`),
    ...unusedKeys(spans, used),
    ...(isEmpty ? ['Name roles under span or places of values under read, then uncomment the entry.'] : []),
  ];
  // A configuration would read foreign keys with ${…} as variables.
  const yaml = stringify(value, { lineWidth: 0 }).replaceAll(/\$(?=[${])/g, () => '$$');
  const [first = '', ...rest] = yaml.trimEnd().split('\n');
  const lines = [`- ${first}`, ...rest.map((line) => `  ${line}`)];
  return {
    text: [...notes.map((note) => `  # ${oneLine(note, noteCharsMax)}`), ...lines.map((line) => `  ${isEmpty ? '# ' : ''}${line}`)].join(
      '\n',
    ),
    isEmpty,
  };
}

/** True when keys hold the input and the output of a span, so that evidence reads them once their roles are known. */
function showsContent(span: Span): boolean {
  const { input, output } = keyEvidenceOf(span).keys;
  return input !== undefined && output !== undefined;
}

interface Parts {
  readonly span: { readonly [role: string]: string };
  readonly read: { readonly [field: string]: string };
}

/** Removes, one after the other, the parts that differ most from what the reader by evidence finds in the spans. */
function asGoodAsEvidence(
  proposed: Parts,
  match: JsonObject,
  spans: readonly Span[],
  collectors: readonly Collector[],
): { readonly kept: Parts; readonly dropped: readonly string[] } {
  const compared = spans.slice(0, comparedMax);
  const before = compared.map((span) => factsOf(collectors, span));
  const lossOf = (parts: Parts): number => {
    const readers = [...dialectSettings([{ name: 'proposed', match, ...parts }]).map(configuredCollector), ...collectors];
    return compared.reduce((sum, span, at) => sum + different(before[at] ?? {}, factsOf(readers, span)), 0);
  };
  const dropped: string[] = [];
  let kept = proposed;
  for (let loss = lossOf(kept); loss > 0;) {
    const [best] = without(kept)
      .map((one) => ({ ...one, loss: lossOf(one.parts) }))
      .toSorted((a, b) => a.loss - b.loss);
    if (best === undefined) break;
    dropped.push(best.what);
    [kept, loss] = [best.parts, best.loss];
  }
  return { kept, dropped };
}

/** The parts without one each: fields first, because more depends on conditions. */
function without({ span, read }: Parts): readonly { readonly what: string; readonly parts: Parts }[] {
  const less = (all: { readonly [name: string]: string }, name: string): typeof all =>
    Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
  return [
    ...Object.entries(read).map(([field, text]) => ({ what: `${field}: ${text}`, parts: { span, read: less(read, field) } })),
    ...Object.entries(span).map(([role, text]) => ({ what: `${role}: ${text}`, parts: { span: less(span, role), read } })),
  ];
}

const noRecords: ReadonlyMap<SpanId, readonly LogRecord[]> = new Map();

/** The members of a tool beside the others. */
function factsOf(collectors: readonly Collector[], span: Span): { readonly [name: string]: unknown } {
  const { tool, ...facts } = spanReadingOf({ collectors, records: noRecords }, span).facts;
  return { ...facts, ...Object.fromEntries(Object.entries(tool ?? {}).map(([name, value]) => [`tool.${name}`, value])) };
}

/** Counts the members that differ. An empty guess equals a missing one. */
function different(one: { readonly [name: string]: unknown }, other: { readonly [name: string]: unknown }): number {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => !isDeepStrictEqual(one[name] ?? false, other[name] ?? false)).length;
}

function kindKeyOf(spans: readonly Span[]): string | undefined {
  return mostFrequent(spans.flatMap((span) => [...(keyEvidenceOf(span).keys.kind ?? []), ...(keyEvidenceOf(span).keys.operation ?? [])]));
}

type Roles = ReadonlyMap<Span, SpanRole | undefined>;

interface Conditions {
  readonly span: { readonly [role: string]: string };
  /** Keys in the form `attributes.KEY`. */
  readonly keys: readonly string[];
  readonly notes: readonly string[];
}

/** Uses an attribute whose values distinguish roles, or else keys that only spans of one role have. */
function conditionsOf(spans: readonly Span[], roles: Roles, key: string | undefined): Conditions {
  if (key === undefined) return byPresence(spans, roles);
  const span: { [role: string]: string } = {};
  const notes: string[] = [];
  const values = [...Map.groupBy(spans, (one) => one.attribute(key))].slice(0, kindsMax);
  for (const [value, own] of values) {
    if (typeof value !== 'string') continue;
    const role = mostFrequent(own.flatMap((one) => roles.get(one) ?? []));
    const condition = `${key} = '${value.replaceAll("'", "''")}'`;
    if (role !== undefined && isDialectRole(role) && span[role] === undefined) span[role] = condition;
    else notes.push(`Not used: ${condition} (${own.length} spans). Add it to a role under span, or ignore it.`);
  }
  return { span: inOrder(span), keys: [`attributes.${key}`], notes };
}

function byPresence(spans: readonly Span[], roles: Roles): Conditions {
  const span: { [role: string]: string } = {};
  const keys: string[] = [];
  for (const role of dialectRoles) {
    const own = spans.filter((one) => roles.get(one) === role);
    const others = spans.filter((one) => roles.get(one) !== role);
    const key = own[0]
      ?.attributeKeys()
      .find((name) => own.every((one) => one.attribute(name) !== undefined) && others.every((one) => one.attribute(name) === undefined));
    if (key === undefined) continue;
    span[role] = `exists(${key})`;
    keys.push(`attributes.${key}`);
  }
  const notes =
    Object.keys(span).length > 0 ? [] : ['No attribute distinguishes roles of spans: add span, such as tool: "span.name = \'run_tool\'".'];
  return { span, keys, notes };
}

function isDialectRole(role: SpanRole): boolean {
  return dialectRoles.some((known) => known === role);
}

function inOrder(span: { readonly [role: string]: string }): { readonly [role: string]: string } {
  return Object.fromEntries(dialectRoles.flatMap((role) => (span[role] === undefined ? [] : [[role, span[role]] as const])));
}

function readOf(spans: readonly Span[], roles: Roles): { readonly [field in DialectField]?: string } {
  const read: { [field in DialectField]?: string } = {};
  for (const [field, from, of] of fields) {
    const asked = of === undefined ? spans : spans.filter((span) => of.includes(roles.get(span) ?? 'noise'));
    for (const evidence of from) {
      const key = mostFrequent(asked.flatMap((span) => keyEvidenceOf(span).keys[evidence]?.slice(0, 1) ?? []));
      if (key === undefined) continue;
      read[field] = `attributes.${key}`;
      break;
    }
  }
  return read;
}

function unusedKeys(spans: readonly Span[], used: ReadonlySet<string>): readonly string[] {
  const counts = new Map<string, number>();
  for (const span of spans)
    for (const key of span.attributeKeys()) if (!used.has(`attributes.${key}`)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const keys = [...counts].sort(([, a], [, b]) => b - a);
  if (keys.length === 0) return [];
  const more = keys.length > keysMax ? `, and ${keys.length - keysMax} more` : '';
  return [
    `Other keys, with their spans: ${keys
      .slice(0, keysMax)
      .map(([key, count]) => `${key} (${count})`)
      .join(', ')}${more}.`,
  ];
}

function sharedKeys(spans: readonly Span[]): readonly string[] {
  const key = mostFrequent(spans.flatMap((span) => span.attributeKeys()));
  return key === undefined ? [] : [key];
}

function mostFrequent<Value>(values: readonly Value[]): Value | undefined {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce<readonly [Value, number] | undefined>(
    (best, one) => (best === undefined || one[1] > best[1] ? one : best),
    undefined,
  )?.[0];
}

function freeName(scope: string, taken: Set<string>): string {
  const plain = scope
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 50);
  const base = plain === '' ? 'own' : plain;
  let name = base;
  for (let at = 2; taken.has(name) || taken.has(name.replaceAll('-', '_')); at++) name = `${base}-${at}`;
  taken.add(name);
  return name;
}
