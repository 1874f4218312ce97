/** Terminal output of the service: log lines, the lines of the start, and a line for each scored run. */
import { oneLine } from '../../model/one-line.ts';
import type { Config, EvaluatorConfig, JudgeConfig } from '../../config/config.ts';
import type { Environment } from '../../config/document.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { Evaluation } from '../../model/verdict.ts';
import { journalName } from '../../journals/index.ts';
import { storeName } from '../../stores/index.ts';
import type { Context } from '../../telemetry/context.ts';

const textChars = 200;
const fieldsMax = 16;
const itemsMax = 10;
/** Fields of pino that the text omits or writes elsewhere. */
const leftOut: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'todo']);

const levels: { readonly [level: string]: { readonly word: string; readonly colour: number } } = {
  10: { word: 'TRACE', colour: 90 },
  20: { word: 'DEBUG', colour: 90 },
  30: { word: 'INFO', colour: 32 },
  40: { word: 'WARN', colour: 33 },
  50: { word: 'ERROR', colour: 31 },
  60: { word: 'FATAL', colour: 31 },
};

/** See no-color.org. */
export function hasColours(isTerminal: boolean, env: Environment): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** Writes one JSON line of the logger as local time, level, message and fields. Keeps any other text, without control characters. */
export function logLine(json: string, { colours }: { readonly colours: boolean }): string {
  const line = parsed(json);
  if (line === undefined) return oneLine(json, textChars);
  const { word, colour } = levels[String(member(line, 'level'))] ?? { word: 'LOG', colour: 0 };
  const level = word.padEnd(5);
  const fields = Object.entries(line)
    .filter(([name]) => !leftOut.has(name))
    .slice(0, fieldsMax)
    .map(([name, value]) => `${oneLine(name, 40)}=${valueText(value)}`);
  const todo = member(line, 'todo');
  return [
    timeOf(member(line, 'time')),
    colours ? `\u001b[${colour}m${level}\u001b[0m` : level,
    [oneLine(String(member(line, 'msg') ?? ''), textChars), ...fields].join('  '),
    ...(typeof todo === 'string' ? [`→ ${oneLine(todo, textChars * 2)}`] : []),
  ].join(' ');
}

function parsed(json: string): JsonObject | undefined {
  try {
    const value = JSON.parse(json) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function timeOf(time: JsonValue | undefined): string {
  const at = new Date(typeof time === 'number' ? time : Number.NaN);
  if (Number.isNaN(at.getTime())) return '--:--:--';
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

function valueText(value: JsonValue): string {
  if (isJsonArray(value))
    return value.length === 0
      ? 'none'
      : [...value.slice(0, itemsMax).map(valueText), ...(value.length > itemsMax ? [`${value.length - itemsMax} more`] : [])].join(',');
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value), textChars);
  return /[\s",=]/.test(text) || text === '' ? `"${text}"` : text;
}

const chars = 200;

/** The places of the data, in the words of the operations guide. */
export function dataText({ store, journal }: Config): string {
  const runs =
    store.address.scheme === 'memory'
      ? 'runs and verdicts in memory, lost when the process ends'
      : `${storeName(store.address)} (runs and verdicts)`;
  return `${runs}, ${journal.scheme === 'memory' ? 'open runs in memory' : `${journalName(journal)} (open runs)`}`;
}

/** One line a judge, and one for all exporters. */
export function whatIsOn({ judges, evaluators, exporters, ownTraces }: Config): readonly string[] {
  const names = exporters.map(({ name }) => oneLine(name, chars));
  return [
    ...(judges.length === 0 ? ['Judges       none'] : judges.map((judge) => `Judges       ${judgeText(judge, evaluators)}`)),
    `Exporters    ${names.length === 0 ? 'none' : names.join(', ')}`,
    ...(ownTraces === undefined
      ? []
      : [`Own traces   ${Number((ownTraces.sample * 100).toPrecision(3))} % to ${oneLine(originOf(ownTraces.url), chars)}`]),
  ];
}

function judgeText({ name, model, budget }: JudgeConfig, evaluators: readonly EvaluatorConfig[]): string {
  const asking = evaluators.filter(
    ({ judge, panel }) => judge === name || panel?.judges.includes(name) === true || panel?.escalate?.to === name,
  );
  const asked = asking.map(
    ({ configured, sampleRate, raise }) =>
      `${configured.name} (${Number((sampleRate * 100).toPrecision(3))} % of runs${raise.length === 0 ? '' : ', more where rules find something'})`,
  );
  return oneLine(
    `${name} (${model}), ${asked.length === 0 ? 'asked by no evaluator' : `asked by ${asked.join(', ')}`}, ${budgetText(budget)}`,
    chars * 2,
  );
}

function budgetText(budget: JudgeConfig['budget']): string {
  const bounds = [
    [budget?.usdPerDay, 'USD a day'],
    [budget?.requestsPerDay, 'requests a day'],
    [budget?.tokensPerDay, 'tokens a day'],
    [budget?.requestsPerMinute, 'requests a minute'],
    [budget?.tokensPerMinute, 'tokens a minute'],
  ] as const;
  const given = bounds.flatMap(([bound, unit]) => (bound === undefined ? [] : [`${bound} ${unit}`]));
  return given.length === 0 ? 'no budget' : `at most ${given.join(', ')}`;
}

/** User, path and query of a URL may be secret. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'an address that is not a URL';
}

/** Writes a line for each scored run, at most a few a second, and counts the others. */
interface RunLines {
  /** Never throws. Runs that are part of another one have no line. */
  scored(item: ScoredRun): void;
}

interface RunLinesOptions extends Pick<Context, 'clock' | 'sleep'> {
  readonly colours: boolean;
  readonly say: (line: string) => void;
}

/** A person reads no more. */
export const linesPerSecond = 5;
const windowMs = 1_000;
const agentChars = 40;
const reasonChars = 160;
const failuresMax = 3;

type Outcome = 'failed' | 'error' | 'scored' | 'unscored';

const marks: { readonly [outcome in Outcome]: { readonly sign: string; readonly colour: number } } = {
  failed: { sign: '✗', colour: 31 },
  error: { sign: '⚠', colour: 33 },
  scored: { sign: '✓', colour: 32 },
  unscored: { sign: '·', colour: 90 },
};

export function runLines({ colours, say, clock, sleep }: RunLinesOptions): RunLines {
  let [windowFromMs, written, left, leftFailed] = [Number.NEGATIVE_INFINITY, 0, 0, 0];

  function summarise(): void {
    if (left > 0) say(`${timeOf(clock.nowMs())} RUN   … ${left} more ${left === 1 ? 'run' : 'runs'}, ${leftFailed} failed`);
    [left, leftFailed] = [0, 0];
  }

  return {
    scored(item) {
      if (item.run.partOf !== undefined) return;
      const now = clock.nowMs();
      if (now - windowFromMs >= windowMs) {
        summarise();
        [windowFromMs, written] = [now, 0];
      }
      const outcome = outcomeOf(item.evaluations);
      if (written < linesPerSecond) {
        written++;
        say(lineOf(item, outcome, { now, colours }));
        return;
      }
      if (left === 0) void sleep(windowFromMs + windowMs - now).then(summarise);
      left++;
      if (outcome === 'failed') leftFailed++;
    },
  };
}

function lineOf(
  { run, evaluations }: ScoredRun,
  outcome: Outcome,
  { now, colours }: { readonly now: number; readonly colours: boolean },
): string {
  const { sign, colour } = marks[outcome];
  const agent = oneLine(run.trace.agent ?? run.service ?? 'agent without a name', agentChars);
  const state = [...(run.completeness === 'complete' ? [] : [run.completeness]), ...(run.revision > 1 ? [`revision ${run.revision}`] : [])];
  return [
    `${timeOf(now)} RUN   ${colours ? `\u001b[${colour}m${sign}\u001b[0m` : sign} ${agent}`,
    ...verdictTexts(evaluations),
    ...(state.length === 0 ? [] : [`(${state.join(', ')})`]),
    `trace=${run.traceId}`,
  ].join('  ');
}

function outcomeOf(evaluations: readonly Evaluation[]): Outcome {
  if (evaluations.some(hasFailed)) return 'failed';
  if (evaluations.some(({ verdict }) => verdict.kind === 'failed')) return 'error';
  return evaluations.some(({ verdict }) => verdict.kind === 'scored') ? 'scored' : 'unscored';
}

function hasFailed({ verdict }: Evaluation): boolean {
  return verdict.kind === 'scored' && verdict.passed === false;
}

/** Failed verdicts with their explanations, otherwise counts. */
function verdictTexts(evaluations: readonly Evaluation[]): readonly string[] {
  const bad = [...evaluations.filter(hasFailed), ...evaluations.filter(({ verdict }) => verdict.kind === 'failed')];
  if (bad.length > 0)
    return [
      ...bad.slice(0, failuresMax).map(({ key, verdict }) => oneLine(`${key.name}: ${verdict.explanation}`, reasonChars)),
      ...(bad.length > failuresMax ? [`and ${bad.length - failuresMax} more`] : []),
    ];
  const scored = evaluations.filter(({ verdict }) => verdict.kind === 'scored');
  const passed = scored.filter(({ verdict }) => verdict.kind === 'scored' && verdict.passed === true).length;
  const measured = scored.length - passed;
  const counts = [...(passed === 0 ? [] : [`${passed} passed`]), ...(measured === 0 ? [] : [`${measured} measured`])];
  return [counts.length === 0 ? 'nothing scored' : counts.join(', ')];
}
