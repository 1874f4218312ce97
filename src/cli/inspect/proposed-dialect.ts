/** An entry of `dialects` for spans that no collector of an SDK reads, from what their keys end in. A person corrects it, so it says where it is unsure. */
import { stringify } from 'yaml';
import type { SpanRole } from '../../../collectors/collector.ts';
import { dialectRoles, type DialectField } from '../../../collectors/configured/dialect.ts';
import { generic } from '../../../collectors/generic.ts';
import { collectors } from '../../../collectors/index.ts';
import { keyEvidenceOf, type ScalarField } from '../../../collectors/parsing/key-evidence.ts';
import type { Span } from '../../model/span.ts';
import { readersAmong } from '../../pipeline/assembly/span-facts.ts';
import { oneLine } from '../terminal.ts';

/** Which field the evidence of a key is for, and spans of which roles are asked; none: all spans. */
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
/** Values of a kind that are told, and keys that stand under no field. */
const kindsMax = 50;
const keysMax = 40;
const noteCharsMax = 2_000;

/** YAML with one entry a scope; undefined: collectors of SDKs read every span. */
export function proposedDialects(spans: readonly Span[]): string | undefined {
  const unknown = spans.filter((span) =>
    readersAmong(collectors, span).every((reader) => reader.isConvention === true || reader === generic),
  );
  if (unknown.length === 0) return undefined;
  const scopes = [...Map.groupBy(unknown, ({ scope }) => scope.name)].sort(([, a], [, b]) => b.length - a.length).slice(0, scopesMax);
  const names = new Set<string>(collectors.map(({ id }) => id));
  return ['dialects:', ...scopes.map(([scope, own]) => entry(scope, own, names))].join('\n');
}

function entry(scope: string, spans: readonly Span[], names: Set<string>): string {
  const conditions = conditionsOf(spans);
  const read = readOf(spans);
  const value = {
    name: freeName(scope, names),
    match: scope === '' ? { keys: sharedKeys(spans) } : { scope },
    ...(Object.keys(conditions.span).length === 0 ? {} : { span: conditions.span }),
    ...(Object.keys(read).length === 0 ? {} : { read }),
  };
  const used = new Set([...Object.values(read), ...conditions.keys]);
  const notes = [`${spans.length} spans of the scope ${JSON.stringify(scope)}.`, ...conditions.notes, ...unusedKeys(spans, used)];
  const [first = '', ...rest] = stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
  return [...notes.map((note) => `  # ${oneLine(note, noteCharsMax)}`), `  - ${first}`, ...rest.map((line) => `    ${line}`)].join('\n');
}

interface Conditions {
  readonly span: { readonly [role: string]: string };
  /** As `attributes.KEY`. */
  readonly keys: readonly string[];
  readonly notes: readonly string[];
}

/** A kind tells one role for each of its values. Without one, a key that stands on all spans of a role and on no other does. */
function conditionsOf(spans: readonly Span[]): Conditions {
  const roles = new Map(spans.map((span) => [span, generic.read(span).role]));
  const key = mostFrequent(
    spans.flatMap((span) => [...(keyEvidenceOf(span).keys.kind ?? []), ...(keyEvidenceOf(span).keys.operation ?? [])]),
  );
  if (key === undefined) return byPresence(spans, roles);
  const span: { [role: string]: string } = {};
  const notes: string[] = [];
  const values = [...Map.groupBy(spans, (one) => one.attribute(key))].slice(0, kindsMax);
  for (const [value, own] of values) {
    if (typeof value !== 'string') continue;
    const role = mostFrequent(own.flatMap((one) => roles.get(one) ?? []));
    const condition = `${key} = '${value.replaceAll("'", "''")}'`;
    if (role !== undefined && isDialectRole(role) && span[role] === undefined) span[role] = condition;
    else notes.push(`Not used: ${condition} (${own.length} spans). Say under span what they are, or leave it.`);
  }
  return { span: inOrder(span), keys: [`attributes.${key}`], notes };
}

function byPresence(spans: readonly Span[], roles: ReadonlyMap<Span, SpanRole | undefined>): Conditions {
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
    Object.keys(span).length > 0 ? [] : ['No attribute says what a span is: add span, such as tool: "span.name = \'run_tool\'".'];
  return { span, keys, notes };
}

function isDialectRole(role: SpanRole): boolean {
  return dialectRoles.some((known) => known === role);
}

function inOrder(span: { readonly [role: string]: string }): { readonly [role: string]: string } {
  return Object.fromEntries(dialectRoles.flatMap((role) => (span[role] === undefined ? [] : [[role, span[role]] as const])));
}

function readOf(spans: readonly Span[]): { readonly [field in DialectField]?: string } {
  const read: { [field in DialectField]?: string } = {};
  const roles = new Map(spans.map((span) => [span, generic.read(span).role]));
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
