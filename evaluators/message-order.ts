/**
 * Calls and texts came in the expected sequence, with any others in between. An assistant message with a text and two calls is three events in a row:
 * the text, then each call. Every call that the model asked for counts, executed or not.
 */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { isJsonObject, member, plainText, type JsonObject, type JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  comparedArgumentsMissing,
  callDetails,
  evidenceOf,
  notCarried,
  skipped,
  tooLarge,
  type PlacedCall,
} from './evidence/calls.ts';
import { searchedTextMax } from './configuration/context.ts';
import { conversationOf } from './evidence/conversation.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { callMatching, equalNames, type CallMatching } from './matching/expected-calls.ts';
import { argumentOptions } from './matching/arguments.ts';
import { longestCommonSubsequence } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, quoted } from './explain/explanation.ts';
import { rule, flag, required, type OptionsOf } from './configuration/define.ts';

const times = { type: 'integer', minimum: 1, maximum: 1000, description: 'Number in a row of the sequence; others may come between.' };

const options = {
  sequence: required<readonly JsonObject[]>(
    {
      type: 'array',
      maxItems: 1000,
      description:
        'The required sequence, in order: a call `{name, arguments?, times?}`, or a text `{role?, contains?, matches?, times?}` with a regular expression under matches. Required.',
      items: {
        anyOf: [
          {
            type: 'object',
            additionalProperties: false,
            required: ['name'],
            properties: { name: { type: 'string', minLength: 1 }, arguments: { type: ['object', 'null'] }, times },
          },
          {
            type: 'object',
            additionalProperties: false,
            minProperties: 1,
            properties: {
              role: { type: 'string', minLength: 1 },
              contains: { type: 'string' },
              matches: { type: 'string', format: 're2' },
              times,
            },
          },
        ],
      },
    },
    [],
  ),
  partial: flag('The score is the share of the sequence that came in order, instead of all or nothing.'),
  arguments_match: argumentOptions(),
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const messageOrder = rule({
  id: 'message_order',
  version: 3,
  summary: 'Tool calls and texts came in the expected sequence.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options,
  source: 'Sentinel AI MessageOrder, with texts, numbers of times and a partial score',
  evaluate: underNormalizedNames(evaluate, (options) => options.sequence.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))),
});

/** Limit of events, as a multiple of the limit of calls. */
const eventsPerCallMax = 10;
const stepsMax = 5_000;

type Event =
  | { readonly kind: 'call'; readonly placed: PlacedCall }
  | { readonly kind: 'text'; readonly role: string; readonly text: string };
interface Step {
  readonly wanted: JsonObject;
  /** Index of the expected call; `undefined` for a text. */
  readonly call: number | undefined;
}

function evaluate({ trace }: Subject, options: Options, context: EvaluationContext): Outcome {
  const stop = notCarried(trace) ?? tooLarge(trace, context);
  if (stop !== undefined) return stop;
  const events = eventsOf(trace);
  const steps = stepsOf(options.sequence);
  const max = context.toolCallsMax * eventsPerCallMax;
  if (events.length > max || steps.length > stepsMax)
    return skipped(
      'too_large',
      `${events.length} messages and calls against ${count(steps.length, 'step')} are more than the ${max} against ${stepsMax} that are looked at.`,
      { events: events.length, steps: steps.length },
    );
  const calls = events.flatMap((event) => (event.kind === 'call' ? [event.placed] : []));
  const matching = callMatching(
    steps.filter(({ call }) => call !== undefined).map(({ wanted }) => expectedCall(wanted)),
    calls,
    options.argumentsMatch,
    equalNames,
  );
  if (matching.lacksArguments) return argumentsUnknown(trace, comparedArgumentsMissing);
  const long = events.some((event) => event.kind === 'text' && event.text.length > searchedTextMax);
  if (long && steps.some(({ wanted }) => textOf(wanted, 'matches') !== undefined))
    return skipped('too_large', `A message is longer than the ${searchedTextMax} characters that are searched for an expression.`, {
      events: events.length,
      steps: steps.length,
    });
  return verdict(steps, events, matcher(steps, events, matching, context), matching, options.partial);
}

function eventsOf(trace: AgentTrace): readonly Event[] {
  return conversationOf(trace).flatMap(({ role, text, calls }): readonly Event[] => [
    ...(text === undefined || text === '' ? [] : [{ kind: 'text', role, text } as const]),
    ...calls.flatMap((index) =>
      trace.toolCalls[index] === undefined ? [] : [{ kind: 'call', placed: { index, call: trace.toolCalls[index] } } as const],
    ),
  ]);
}

function stepsOf(sequence: readonly JsonObject[]): readonly Step[] {
  let calls = 0;
  return sequence.flatMap((wanted) => {
    const repeats = member(wanted, 'times');
    return Array.from({ length: typeof repeats === 'number' ? repeats : 1 }, () => ({
      wanted,
      call: member(wanted, 'name') === undefined ? undefined : calls++,
    }));
  });
}

function expectedCall(wanted: JsonObject): { readonly name: string; readonly arguments?: JsonObject } {
  const sent = member(wanted, 'arguments');
  return { name: textOf(wanted, 'name') ?? '', ...(isJsonObject(sent) ? { arguments: sent } : {}) };
}

type Matches = (step: number, event: number) => boolean;

function matcher(steps: readonly Step[], events: readonly Event[], matching: CallMatching, context: EvaluationContext): Matches {
  const places = callPlaces(events);
  /** Results by expectation, computed once per text. */
  const texts = new Map<JsonObject, readonly boolean[]>();
  for (const { wanted, call } of steps)
    if (call === undefined && !texts.has(wanted))
      texts.set(
        wanted,
        events.map((event) => event.kind === 'text' && isText(wanted, event.role, event.text, context)),
      );
  return (s, e) => {
    const step = steps[s];
    if (step === undefined) return false;
    if (step.call === undefined) return texts.get(step.wanted)?.[e] ?? false;
    return (places[e] ?? -1) >= 0 && matching.matches(step.call, places[e] ?? -1);
  };
}

/** Index of each event among the calls; -1 for a text. */
function callPlaces(events: readonly Event[]): readonly number[] {
  let nth = 0;
  return events.map((event) => (event.kind === 'call' ? nth++ : -1));
}

function isText(wanted: JsonObject, role: string, text: string, context: EvaluationContext): boolean {
  const [by, part, pattern] = [textOf(wanted, 'role'), textOf(wanted, 'contains'), textOf(wanted, 'matches')];
  return (
    (by === undefined || by === role) &&
    (part === undefined || text.includes(part)) &&
    (pattern === undefined || context.pattern(pattern).test(text))
  );
}

function verdict(steps: readonly Step[], events: readonly Event[], matches: Matches, matching: CallMatching, partial: boolean): Outcome {
  const inOrder: number[] = [];
  for (const [at] of events.entries()) if (inOrder.length < steps.length && matches(inOrder.length, at)) inOrder.push(at);
  const all = inOrder.length === steps.length;
  const met = all ? steps.length : longestCommonSubsequence(steps.length, events.length, matches).length;
  const unmet = all ? undefined : steps[inOrder.length];
  const used = new Set(inOrder);
  const places = callPlaces(events);
  const free = (fits: (at: number) => boolean): PlacedCall | undefined => {
    const event = events.find((_, at) => !used.has(at) && fits(at));
    return event?.kind === 'call' ? event.placed : undefined;
  };
  const nearest = unmet === undefined ? undefined : free((at) => matches(inOrder.length, at));
  const other =
    unmet?.call === undefined || nearest !== undefined ? undefined : free((at) => matching.same(unmet.call ?? 0, places[at] ?? -1));
  return {
    kind: 'scored',
    score: steps.length === 0 ? 1 : partial ? met / steps.length : all ? 1 : 0,
    explanation:
      unmet === undefined
        ? steps.length === 0
          ? 'No sequence was expected.'
          : `The ${count(steps.length, 'step')} of the sequence came in order.`
        : explained(unmet, inOrder.length, steps.length, { nearest, other }),
    evidence: evidenceOf([nearest ?? other].flatMap((placed) => placed ?? [])),
    details: {
      met,
      expected: steps.length,
      ...(unmet === undefined ? {} : { first_unmet: inOrder.length, unmet: unmet.wanted }),
      met_calls: inOrder.flatMap((at) => metCall(events[at])),
    },
  };
}

function metCall(event: Event | undefined): readonly JsonObject[] {
  return event?.kind === 'call' ? [callDetails(event.placed)] : [];
}

function explained(
  { wanted }: Step,
  at: number,
  total: number,
  near: { readonly nearest: PlacedCall | undefined; readonly other: PlacedCall | undefined },
): string {
  const hint =
    near.nearest !== undefined
      ? `; ${callName(near.nearest)} came too early`
      : near.other !== undefined
        ? `; ${callName(near.other)} has other arguments, or came too early`
        : '';
  return `Step ${at + 1} of ${total} did not come in its place: ${inWords(wanted)}${hint}.`;
}

function inWords(wanted: JsonObject): string {
  const name = textOf(wanted, 'name');
  if (name !== undefined)
    return `a call of ${name}${isJsonObject(member(wanted, 'arguments')) ? ` with ${quoted(plainText(member(wanted, 'arguments') ?? {}))}` : ''}`;
  const [role, part, pattern] = [textOf(wanted, 'role'), textOf(wanted, 'contains'), textOf(wanted, 'matches')];
  return `a text${role === undefined ? '' : ` of ${role}`}${part === undefined ? '' : ` that contains ${quoted(part)}`}${pattern === undefined ? '' : ` that matches ${quoted(pattern)}`}`;
}

function textOf(wanted: JsonObject, key: string): string | undefined {
  const value: JsonValue | undefined = member(wanted, key);
  return typeof value === 'string' ? value : undefined;
}
