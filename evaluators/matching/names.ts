/** Compares the name of a called tool with the expected one, and finds random suffixes of names. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { flag } from '../configuration/define.ts';
import type { EvaluationContext, Subject } from '../evaluator.ts';

/** Limit of names in tool spans: SDKs replace blanks, and drop or cut other characters. */
const sanitisedMax = 64;

/** Equal names, also after an SDK's sanitising. Names beyond ASCII are not sanitised, as nothing would remain. */
export function sameTool(expected: string, called: string): boolean {
  if (expected === called) return true;
  // Sanitising would change neither name.
  if (cleanName.test(expected) && cleanName.test(called)) return false;
  if (foreignLetter.test(expected) || foreignLetter.test(called)) return false;
  const name = sanitised(expected);
  return name !== '' && name === sanitised(called);
}

/** A star matches any characters or none. Matches the pieces between stars as early as possible, which suffices. */
export function fits(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** As `sameTool` for many names: the items of each name, in order. */
export function byToolName<Item>(items: readonly Item[], nameOf: (item: Item) => string): (expected: string) => readonly Item[] {
  const exact = Map.groupBy(items, nameOf);
  // Sanitises each distinct name once.
  const clean = new Map([...exact.keys()].map((name) => [name, sanitisedOrNone(name)]));
  const alike = Map.groupBy(items, (item) => clean.get(nameOf(item)));
  return (expected) => {
    const name = sanitisedOrNone(expected);
    return (name === undefined ? exact.get(expected) : alike.get(name)) ?? [];
  };
}

/** `undefined` when the name equals only itself. */
function sanitisedOrNone(name: string): string | undefined {
  if (foreignLetter.test(name)) return undefined;
  const clean = sanitised(name);
  return clean === '' ? undefined : clean;
}

const cleanName = /^[A-Za-z0-9_-]{1,64}$/;
const foreignLetter = /[^\P{L}A-Za-z]/u;

function sanitised(name: string): string {
  return name
    .replaceAll(/\s/g, '_')
    .replaceAll(/[^A-Za-z0-9_-]/g, '')
    .slice(0, sanitisedMax);
}

/** Session suffixes that frameworks append to delegated tools, such as `_xg7c`. */
const randomSuffix = /^(.*[^_])_([a-z0-9]{4})$/su;
/** Suffixes of letters and digits with a meaning. */
const technicalWords: ReadonlySet<string> = new Set([
  'utf8',
  'ipv4',
  'ipv6',
  'sha1',
  'sha2',
  'sha3',
  'gpt4',
  'gpt5',
  'web3',
  'int8',
  'h264',
  'h265',
  'x509',
]);

/** The name without a random suffix. Keeps a known name. A known base, or a mix of letters and digits, marks a suffix as random. */
export function normalizedName(name: string, known: ReadonlySet<string>): string {
  if (known.has(name)) return name;
  const [, base, suffix] = randomSuffix.exec(name) ?? [];
  if (base === undefined || suffix === undefined) return name;
  const mixed = /[a-z]/.test(suffix) && /[0-9]/.test(suffix) && !technicalWords.has(suffix);
  return known.has(base) || mixed ? base : name;
}

export const normalizeToolNames = flag(
  'Leave out random suffixes of the names of called tools, as in delegate_to_agent_xg7c; names of defined and of expected tools are kept. The details list each change.',
);

interface Normalized {
  readonly subject: Subject;
  /** The distinct changed names. */
  readonly changes: readonly { readonly name: string; readonly normalized: string }[];
}

/** The subject with normalised names if `on`. `names`: expected names beside those in the expectation. */
export function normalizedNames(subject: Subject, on: boolean, names: readonly string[] = []): Normalized {
  if (!on) return { subject, changes: [] };
  const known = new Set([...subject.trace.toolDefinitions.map(({ name }) => name), ...expectedNames(subject.expected), ...names]);
  const changes = new Map<string, string>();
  for (const { name } of subject.trace.toolCalls) {
    const normalized = normalizedName(name, known);
    if (normalized !== name) changes.set(name, normalized);
  }
  const trace: AgentTrace = {
    ...subject.trace,
    toolCalls: subject.trace.toolCalls.map((call) => ({ ...call, name: changes.get(call.name) ?? call.name })),
  };
  return { subject: { ...subject, trace }, changes: [...changes].map(([name, normalized]) => ({ name, normalized })) };
}

/** A rule with the option of normalised names; details list the changes. */
export function underNormalizedNames<Options extends { readonly normalizeToolNames: boolean }>(
  evaluate: (subject: Subject, options: Options, context: EvaluationContext) => Outcome,
  namesIn: (options: Options) => readonly string[] = () => [],
): typeof evaluate {
  return (subject, options, context) => {
    const normalized = normalizedNames(subject, options.normalizeToolNames, namesIn(options));
    return withChanges(evaluate(normalized.subject, options, context), normalized);
  };
}

export function withChanges(outcome: Outcome, { changes }: Normalized): Outcome {
  return changes.length === 0 ? outcome : { ...outcome, details: { ...outcome.details, normalized: changes } };
}

function expectedNames({
  toolCalls = [],
  toolOutputs = [],
  toolCallsCount = [],
  toolCallsOrder = [],
  messages = [],
}: Expectation): readonly string[] {
  return [
    ...[...toolCalls, ...toolOutputs, ...toolCallsCount, ...messages.flatMap((message) => message.toolCalls)].map(({ name }) => name),
    ...toolCallsOrder,
  ];
}
