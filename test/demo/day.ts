/** Simulates a day of runs. The same seed gives the same day. */
import {
  agents,
  type CallOutcome,
  type Scenario,
  type ScenarioCall,
  scenarios,
  type SimulatedCall,
  type SimulatedRun,
  tookMs,
} from './scenarios.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { seededRandom } from '../../src/statistics/seeded-random.ts';

interface DayOptions {
  readonly seed: number;
  /** Runs without those of sub-agents. */
  readonly runs: number;
  /** End of the last run. */
  readonly endUnixMs: number;
}

interface Placed<Item> {
  readonly item: Item;
  readonly startUnixMs: number;
}

export interface Day {
  readonly runs: readonly Placed<SimulatedRun>[];
  /** Starts of web requests without agents. */
  readonly webRequests: readonly number[];
}

const dayMs = 8 * 60 * 60 * 1_000;
const pauseMs = 90_000;
/** Runs for each web request. */
const runsPerWebRequest = 12;

/** Scenarios that begin a conversation. A day has each of them once before the random choice, so that even a short one has them all. */
export const openers = scenarios.filter(({ weight }) => weight > 0);

export function simulatedConversations(
  { seed, runs }: Pick<DayOptions, 'seed' | 'runs'>,
  random = seeded(seed),
): readonly (readonly SimulatedRun[])[] {
  const conversations: (readonly SimulatedRun[])[] = [];
  for (let made = 0, at = 0; made < runs; at++) {
    const conversation = conversationOf(openers[at] ?? weighted(openers, random), random).slice(0, runs - made);
    conversations.push(conversation);
    made += conversation.length;
  }
  return conversations;
}

export function simulatedDay({ seed, runs, endUnixMs }: DayOptions): Day {
  const random = seeded(seed);
  const order = shuffled(simulatedConversations({ seed, runs }, random), random);
  const placed = order.flatMap((conversation, index) =>
    placedBefore(conversation, endUnixMs - Math.round(((order.length - 1 - index) * dayMs) / order.length)),
  );
  const webRequests = Array.from({ length: Math.ceil(runs / runsPerWebRequest) }, () => endUnixMs - random.between(1_000, dayMs));
  return { runs: placed.sort((a, b) => a.startUnixMs - b.startUnixMs), webRequests };
}

/** Places the turns of a conversation backwards from its end. */
export function placedBefore(conversation: readonly SimulatedRun[], endUnixMs: number): readonly Placed<SimulatedRun>[] {
  const placed: Placed<SimulatedRun>[] = [];
  let end = endUnixMs;
  for (const run of conversation.toReversed()) {
    const startUnixMs = end - tookMs(run);
    placed.unshift({ item: run, startUnixMs });
    end = startUnixMs - pauseMs;
  }
  return placed;
}

function weighted(from: readonly Scenario[], random: Random): Scenario {
  const total = from.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.next() * total;
  const found = from.find(({ weight }) => (left -= weight) < 0) ?? from.at(-1);
  if (found === undefined) throw new Error('there is no scenario');
  return found;
}

function conversationOf(first: Scenario, random: Random): readonly SimulatedRun[] {
  const words = wordsOf(random);
  const spoken: Scenario[] = [];
  for (
    let at: Scenario | undefined = first;
    at !== undefined && spoken.length < scenarios.length;
    at = at.next === undefined ? undefined : scenarioOf(at.next)
  )
    spoken.push(at);
  const sessionId = spoken.length > 1 || random.next() < 0.5 ? `session-${random.between(100_000, 999_999)}` : undefined;
  return spoken.map((scenario) => simulated(scenario, words, random, sessionId));
}

function scenarioOf(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

function simulated(scenario: Scenario, words: Words, random: Random, sessionId: string | undefined): SimulatedRun {
  const { name, agent, input, turns, answer, slowMs } = scenario;
  return {
    agent: agents[agent],
    scenario: name,
    input: filledText(input, words),
    ...(sessionId === undefined ? {} : { sessionId }),
    turns: turns.map((calls, index) => ({
      thoughtMs: index === 0 && slowMs !== undefined ? slowMs : random.between(300, 2_500),
      calls: calls.map((call) => simulatedCall(call, words, random, sessionId)),
    })),
    answerMs: random.between(300, 2_500),
    ...(answer === undefined ? {} : { answer: filledText(answer, words) }),
  };
}

function simulatedCall(call: ScenarioCall, words: Words, random: Random, sessionId: string | undefined): SimulatedCall {
  const by = call.by === undefined ? undefined : simulated(scenarioOf(call.by), words, random, sessionId);
  return {
    tool: call.tool,
    arguments: filledObject(call.arguments, words),
    outcome: outcomeOf(call, words, by),
    tookMs: random.between(20, 900),
    ...(by === undefined ? {} : { by }),
  };
}

function outcomeOf({ gives, fails }: ScenarioCall, words: Words, by: SimulatedRun | undefined): CallOutcome {
  if (by?.answer !== undefined) return { kind: 'returned', result: by.answer };
  if (fails !== undefined) return { kind: 'failed', message: filledText(fails, words) };
  return gives === undefined ? { kind: 'lost' } : { kind: 'returned', result: filled(gives, words) };
}

function shuffled<Item>(items: readonly Item[], random: Random): readonly Item[] {
  const mixed = [...items];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = random.between(0, at);
    const [left, right] = [mixed[at], mixed[other]];
    if (left !== undefined && right !== undefined) [mixed[at], mixed[other]] = [right, left];
  }
  return mixed;
}

/** Words that distinguish the runs of one scenario. */
interface Words {
  readonly [name: string]: string | number;
}

const cities = [
  ['CDG', 'Paris'],
  ['FCO', 'Rome'],
  ['WAW', 'Warszawa'],
  ['NRT', 'Tōkyō'],
  ['GRU', 'São Paulo'],
] as const;
const origins = ['JFK', 'LHR', 'FRA', 'SFO'] as const;
const topics = ['heat pumps', 'tidal power', 'sourdough', 'grid storage', 'bee colonies'] as const;
const files = ['src/cart.ts', 'src/auth/session.ts', 'lib/parser.py', 'pkg/queue/queue.go'] as const;

function wordsOf(random: Random): Words {
  const [to, city] = random.pick(cities);
  return {
    from: random.pick(origins),
    to,
    city,
    date: `2027-0${random.between(1, 9)}-${random.between(10, 28)}`,
    nights: random.between(2, 9),
    number: String(random.between(100_000, 999_999)),
    amount: random.between(500, 9_900) / 100,
    topic: random.pick(topics),
    file: random.pick(files),
  };
}

const PLACE = /\{(\w+)\}/g;
const WHOLE_PLACE = /^\{(\w+)\}$/;

function filledText(text: string, words: Words): string {
  return text.replaceAll(PLACE, (place, name: string) => String(words[name] ?? place));
}

function filledObject(object: JsonObject, words: Words): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, filled(value, words)]));
}

function filled(value: JsonValue, words: Words): JsonValue {
  if (isJsonArray(value)) return value.map((item) => filled(item, words));
  if (isJsonObject(value)) return filledObject(value, words);
  if (typeof value !== 'string') return value;
  const whole = WHOLE_PLACE.exec(value)?.[1];
  return whole === undefined ? filledText(value, words) : (words[whole] ?? value);
}

export interface Random {
  /** A number from 0 to below 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** The same seed gives the same numbers. */
export function seeded(seed: number): Random {
  const next = seededRandom(seed);
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick(items) {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
  };
}
