/** Traffic of five agents with planted faults, as their SDKs send it, scored by the rules of a configuration. */
import type { ToolDefinition } from '../../src/model/agent-trace.ts';
import { gatheredRuns } from '../../src/cli/inspect/inspection.ts';
import { parseSpanId, parseTraceId } from '../../src/model/ids.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import type { StoreItem } from '../../src/model/store/store.ts';
import { redactedRun } from '../../src/pipeline/evaluation/redacted-run.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import type { Chance } from '../builders/seeded.ts';
import { configFrom, scoredUnder } from '../builders/stored-runs.ts';
import type { SimulatedCall, SimulatedRun } from '../demo/scenarios.ts';
import { spansOfRun } from '../demo/spans.ts';

export const days = 30;
export const dayMs = 86_400_000;
export const firstDayMs = 1_798_761_600_000;
/** Runs of each agent. */
const runsOfDay = 30;

const config = configFrom(`
evaluators:
  - defaults
  - { use: tool_permission, options: { deny: [ delete_* ] } }
  - { use: tool_call_order, expect: { tool_calls_order: [ authenticate ] }, threshold: 1 }
  - use: json_parseable
    options:
      schema: { type: object, properties: { state: { type: string }, total: { type: number } }, required: [ state, total ] }
`);

const text = { type: 'string' } as const;
const teams = [
  { name: 'support', sdk: 'ai_sdk', noun: 'order', look: 'find_order', act: 'refund_order', notify: 'send_mail' },
  { name: 'travel', sdk: 'flattened', noun: 'booking', look: 'find_booking', act: 'change_booking', notify: 'send_ticket' },
  { name: 'sales', sdk: 'conventions', noun: 'lead', look: 'find_lead', act: 'create_quote', notify: 'update_crm' },
  { name: 'operations', sdk: 'conventions', noun: 'service', look: 'get_metrics', act: 'scale_service', notify: 'open_incident' },
  { name: 'people', sdk: 'ai_sdk', noun: 'employee', look: 'find_employee', act: 'book_leave', notify: 'tell_manager' },
] as const;
type Team = (typeof teams)[number];

function toolsOf({ noun, look, act, notify }: Team): readonly ToolDefinition[] {
  const line = { type: 'object', properties: { sku: text, count: { type: 'integer' } }, required: ['sku', 'count'] };
  const schemas: { readonly [name: string]: JsonObject } = {
    authenticate: { token: text },
    [look]: { key: text },
    [act]: { amount: { type: 'number' }, reason: { enum: ['damaged', 'late'] }, lines: { type: 'array', items: line } },
    [notify]: { to: text },
    [`delete_${noun}`]: { key: text },
  };
  return Object.entries(schemas).map(([name, properties]) => ({
    name,
    inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  }));
}

/** A run before it has spans. */
interface Draft {
  readonly team: Team;
  readonly calls: SimulatedCall[];
  answer: string | undefined;
  /** Set when the run ends in an error. */
  error?: string;
}

/** A run has at most one fault at each place. */
type Place = 'start' | 'look' | 'act' | 'notify' | 'more' | 'end';

interface Kind {
  readonly name: string;
  readonly place: Place;
  plant(draft: Draft, chance: Chance): void;
}

function call(
  tool: string,
  args: JsonObject,
  outcome: SimulatedCall['outcome'] = { kind: 'returned', result: { done: true } },
): SimulatedCall {
  return { tool, arguments: args, outcome, tookMs: 40 };
}

function change(draft: Draft, tool: string, more: (call: SimulatedCall) => Partial<SimulatedCall>): void {
  const at = draft.calls.findIndex((one) => one.tool === tool);
  const found = draft.calls[at];
  if (found !== undefined) draft.calls[at] = { ...found, ...more(found) };
}

const argued = (name: string, args: (chance: Chance, before: JsonObject) => JsonObject): Kind => ({
  name,
  place: 'act',
  plant: (draft, chance) => change(draft, draft.team.act, (one) => ({ arguments: args(chance, one.arguments) })),
});

const fails = (name: string, place: 'look' | 'act' | 'notify', message: (chance: Chance, team: Team) => string): Kind => ({
  name,
  place,
  plant: (draft, chance) => change(draft, draft.team[place], () => ({ outcome: { kind: 'failed', message: message(chance, draft.team) } })),
});

const breaksOff = (name: string, message: (chance: Chance) => string): Kind => ({
  name,
  place: 'end',
  plant(draft, chance) {
    draft.answer = undefined;
    draft.error = message(chance);
  },
});

const answers = (name: string, answer: (chance: Chance) => string): Kind => ({
  name,
  place: 'end',
  plant(draft, chance) {
    draft.answer = answer(chance);
  },
});

const hex = (chance: Chance, length: number): string => Array.from({ length }, () => chance.below(16).toString(16)).join('');
const address = (chance: Chance): string => `10.${chance.below(200)}.${chance.below(200)}.${1 + chance.below(200)}`;

const kinds: readonly Kind[] = [
  argued('the amount is a text', (chance, before) => ({ ...before, amount: `${chance.below(900)}.50` })),
  argued('an unknown reason', (chance, before) => ({ ...before, reason: chance.pick(['other', 'unhappy', 'none']) })),
  argued('the count of a line is a text', (chance, before) => {
    const lines = [1, 2, 3, 4].map((count) => ({ sku: `S-${count}`, count }));
    return { ...before, lines: lines.with(chance.below(4), { sku: 'S-9', count: 'two' as never }) };
  }),
  argued('no reason', (_, { amount = 1, lines = [] }) => ({ amount, lines })),
  {
    name: 'an unknown tool',
    place: 'act',
    plant: (draft) =>
      change(draft, draft.team.act, ({ tool }) => ({
        tool: `${tool}_v2`,
        outcome: { kind: 'failed', message: `Tool ${tool}_v2 not found` },
      })),
  },
  fails('not found', 'look', (chance, { noun }) => `${noun} ${1_000 + chance.below(90_000)} not found`),
  fails('a timeout', 'act', (chance) => `timeout of ${1 + chance.below(30)}000ms exceeded`),
  fails(
    'a backend that is away',
    'act',
    (chance, { noun }) => `503 Server Error: Service Unavailable for url: https://api.internal/v1/${noun}s/${1_000 + chance.below(9_000)}`,
  ),
  fails(
    'a duplicate key',
    'notify',
    (chance) =>
      `duplicate key value violates unique constraint "messages_pkey" DETAIL: Key (id)=(${hex(chance, 8)}-1a2b-4c3d-8e9f-${hex(chance, 12)}) already exists.`,
  ),
  fails('a refused connection', 'notify', (chance) => `connect ECONNREFUSED ${address(chance)}:${1_000 + chance.below(9_000)}`),
  {
    name: 'the same call again',
    place: 'look',
    plant(draft) {
      const at = draft.calls.findIndex(({ tool }) => tool === draft.team.look);
      const again = draft.calls[at];
      if (again !== undefined) draft.calls.splice(at + 1, 0, again);
    },
  },
  { name: 'no authentication', place: 'start', plant: ({ calls }) => void calls.shift() },
  {
    name: 'a forbidden tool',
    place: 'more',
    plant: ({ calls, team }, chance) => void calls.push(call(`delete_${team.noun}`, { key: `K-${chance.below(1_000)}` })),
  },
  breaksOff(
    'the limit of the model',
    (chance) =>
      `Rate limit reached: Limit ${chance.pick([30_000, 90_000])}, Used ${20_000 + chance.below(9_000)}, Requested ${1_000 + chance.below(4_000)}`,
  ),
  breaksOff('a broken stream', (chance) => `stream ${hex(chance, 16)}7 closed by ${address(chance)}`),
  answers('the total is a text', (chance) => `{"state":"done","total":"${chance.below(900)} EUR"}`),
  answers('the answer is prose', (chance) => `Done, the total is ${chance.below(900)}.`),
];

export interface PlantedFault {
  readonly name: string;
  readonly team: Team;
  readonly kind: Kind;
  /** comes back: again after its fix. goes: no more after its fix. old version: later only in runs of a version before the fix. */
  readonly life: 'stays' | 'goes' | 'comes back' | 'old version';
  readonly rate: number;
  readonly traces: Set<string>;
}

/** Eight faults of each agent. */
export function faultsOfTraffic(chance: Chance): readonly PlantedFault[] {
  const all = teams.flatMap((team) =>
    chance
      .shuffled(kinds)
      .slice(0, 8)
      .map((kind) => ({ team, kind })),
  );
  const lives: readonly PlantedFault['life'][] = [
    ...Array<'comes back'>(3).fill('comes back'),
    ...Array<'goes'>(5).fill('goes'),
    ...Array<'old version'>(2).fill('old version'),
  ];
  return chance.shuffled(all).map(({ team, kind }, at) => ({
    name: `${team.name}: ${kind.name}`,
    team,
    kind,
    life: lives[at] ?? 'stays',
    rate: 0.01 + 0.04 * chance.share(),
    traces: new Set(),
  }));
}

/** A new version every ten days. */
function versionOf(day: number): string {
  return `1.${Math.floor(day / 10)}`;
}

/** The version of a run with the fault on that day; `undefined` when it has none. */
function versionWith({ life }: PlantedFault, day: number): string | undefined {
  if (life === 'stays' || day < 10) return versionOf(day);
  if (life === 'old version') return '1.1';
  return life === 'comes back' && day >= 20 ? versionOf(day) : undefined;
}

/** The scored runs of a day. Notes in the faults which of them have which. */
export function trafficOf(day: number, faults: readonly PlantedFault[], chance: Chance): readonly StoreItem[] {
  const spans = teams.flatMap((team) => Array.from({ length: runsOfDay }, () => spansOf(team, { day, faults, chance })).flat());
  return [...gatheredRuns({ spans, records: [] }, config, noTelemetry).values()].map((run) => {
    const { run: scored, ...item } = scoredUnder(run, config);
    return redactedRun(scored, undefined).item(item);
  });
}

function spansOf(
  team: Team,
  { day, faults, chance }: { readonly day: number; readonly faults: readonly PlantedFault[]; readonly chance: Chance },
): readonly Span[] {
  const traceId = parseTraceId(hex(chance, 32));
  if (traceId === undefined) throw new Error('not a trace id');
  const key = `K-${chance.below(10_000)}`;
  const draft: Draft = {
    team,
    calls: [
      call('authenticate', { token: hex(chance, 8) }),
      call(team.look, { key }),
      call(team.act, {
        amount: chance.below(900),
        reason: chance.pick(['damaged', 'late']),
        lines: [{ sku: 'S-1', count: 1 + chance.below(5) }],
      }),
      call(team.notify, { to: `${hex(chance, 5)}@example.com` }),
    ],
    answer: `{"state":"done","total":${chance.below(900)}}`,
  };
  const places = new Set<Place>();
  let version = versionOf(day);
  for (const fault of faults) {
    const own = versionWith(fault, day);
    if (fault.team !== team || own === undefined || places.has(fault.kind.place) || chance.share() >= fault.rate) continue;
    // A run of an old version has only the faults that this version has.
    if (places.size > 0 && own !== version) continue;
    version = own;
    places.add(fault.kind.place);
    fault.kind.plant(draft, chance);
    fault.traces.add(traceId);
    if (fault.life === 'old version') break;
  }
  const run: SimulatedRun = {
    agent: { name: team.name, sdk: team.sdk, version, model: 'gpt-4o-mini', system: 'You help.', tools: toolsOf(team) },
    scenario: '',
    input: `Please see to ${key}.`,
    turns: draft.calls.map((one) => ({ thoughtMs: 200, calls: [one] })),
    answerMs: 300,
    ...(draft.answer === undefined ? {} : { answer: draft.answer }),
  };
  const ids = { traceId: () => traceId, spanId: () => parseSpanId(hex(chance, 15) + '1') ?? fail() };
  const spans = spansOfRun(run, firstDayMs + day * dayMs + chance.below(dayMs - 60_000), ids);
  const { error } = draft;
  return error === undefined
    ? spans
    : spans.map((span) => (span.parentSpanId === undefined ? { ...span, status: { code: 'error', message: error }, events: [] } : span));
}

function fail(): never {
  throw new Error('not a span id');
}
