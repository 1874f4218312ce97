/** A gate: the least share of an evaluator's verdicts that has to pass. */
import { aligned, percent, section, textTable } from '../../report/text.ts';
import { type WorstTurn, worstTurns } from '../../analytics/worst-turns.ts';
import { UsageError } from '../command.ts';
import type { SwitchedOnEvaluator, Unverified } from './expectations.ts';
import { type EvalOutcome, type EvalResult, severalRuns, taskCells, taskHeads, type TaskResult } from './scoring.ts';
import { oneLine, oneName } from '../../model/one-line.ts';
import type { JudgeConfig } from '../../config/config.ts';
import { classOf, type NamedVerdict, passedShare, scoredCount, type Tally, tallyOf, type VerdictClass } from '../../library/report.ts';
import { type KnownEvaluators, meantEvaluator } from '../../model/did-you-mean.ts';
import { runErrorText } from '../../model/agent-trace.ts';
import { endEvaluator, isCheck, type Verdict, verdictWord } from '../../model/verdict.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import { judgesOf } from '../../pipeline/jury/jury-panel.ts';

export interface Gate {
  readonly name: string;
  readonly share: number;
}

interface GateResult extends Gate {
  /** `undefined` when nothing passed or failed; then the gate does not hold. */
  readonly reached: number | undefined;
  readonly held: boolean;
}

interface EvaluatorTally extends Tally {
  readonly name: string;
}

/** `NAME=SHARE`; the share as a number from 0 to 1 or in percent. */
export function parseGate(text: string, known: KnownEvaluators): Gate {
  const at = text.lastIndexOf('=');
  const [name, written] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const match = /^(\d{1,3}(?:\.\d{1,15})?|\.\d{1,15})(%?)$/.exec(written);
  const share = match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
  if (at < 1 || !(share >= 0 && share <= 1))
    throw new UsageError(`--fail-under takes NAME=SHARE with a share from 0 to 1, as in tool_error=0.95, not ${JSON.stringify(text)}.`);
  if (known.on.includes(name)) return { name, share };
  throw new UsageError(
    `--fail-under: no evaluator has the name ${JSON.stringify(name)}. ${meantEvaluator(name, known, `Evaluators: ${known.on.join(', ')}.`)}`,
  );
}

export function talliesOf({ results }: EvalOutcome): readonly EvaluatorTally[] {
  const all = results.flatMap(({ verdicts }) => verdicts);
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, own]) => ({ name, ...tallyOf(own.map(({ verdict }) => verdict)) }));
}

/** Adds a row for each evaluator that gave no verdict. */
export function withoutVerdicts(tallies: readonly EvaluatorTally[], names: readonly string[]): readonly EvaluatorTally[] {
  const counted = new Set(tallies.map(({ name }) => name));
  return [...tallies, ...[...new Set(names)].filter((name) => !counted.has(name)).map((name) => ({ name, ...tallyOf([]) }))];
}

/** Evaluators without a score whose judge never answered, for example because of a wrong key: their checks never ran. */
export function unaskedEvaluators({ results }: EvalOutcome): readonly string[] {
  const groups = Map.groupBy(
    results.flatMap(({ verdicts }) => verdicts.filter(({ verdict }) => verdict.kind !== 'skipped')),
    ({ name }) => name,
  );
  return [...groups]
    .filter(([, own]) => own.every(({ verdict }) => verdict.kind === 'failed' && unasked.test(verdict.error)))
    .map(([name]) => name);
}

/** Errors of `src/judges` for a question without an answer. */
const unasked = /^(?:judge_unavailable|judge_timed_out|judge_out_of_quota|judge_down|timed_out)\b/;

export function gateResults(gates: readonly Gate[], tallies: readonly EvaluatorTally[]): readonly GateResult[] {
  return gates.map((gate) => {
    const tally = tallies.find(({ name }) => name === gate.name);
    const reached = tally === undefined ? undefined : passedShare(tally);
    return { ...gate, reached, held: reached !== undefined && reached >= gate.share };
  });
}

/** The content of a report for every format. */
export interface EvalReport {
  readonly outcome: EvalOutcome;
  readonly tallies: readonly EvaluatorTally[];
  readonly gates: readonly GateResult[];
  /** Convergence of the runs of each task. */
  readonly tasks: readonly TaskResult[];
  readonly passed: boolean;
  /** Evaluators that expectations switched on. */
  readonly switchedOn?: readonly SwitchedOnEvaluator[];
  /** Expectations whose evaluators gave no score. */
  readonly unverified?: readonly Unverified[];
  /** Why nothing was scored, in one sentence; absent when something was. */
  readonly nothingScored?: string | undefined;
  /** Sentences about missing scores. */
  readonly warnings?: readonly string[];
  /** `true`: the table lists each run, not only failing ones. */
  readonly verbose?: boolean;
}

export interface Finding extends NamedVerdict {
  readonly label: string;
}

interface PassedWith {
  /** Expectations whose evaluators gave no score. */
  readonly unverified?: readonly Unverified[];
  /** Evaluators without a score whose judge could not be asked. */
  readonly unasked?: readonly string[];
  /** Passes without scores. */
  readonly allowUnscored?: boolean;
  /** Passes with runs that ended in an error. */
  readonly allowRunErrors?: boolean;
}

/**
 * A report without any score does not pass, and neither does one with an example without a run or a run that ended in an error. Without gates
 * every verdict has to pass, every expectation needs a score, and every judge has to answer.
 */
export function hasPassed(
  { missing, results }: EvalOutcome,
  gates: readonly GateResult[],
  { unverified = [], unasked = [], allowUnscored = false, allowRunErrors = false }: PassedWith = {},
): boolean {
  if (missing.length > 0 || gates.some(({ held }) => !held)) return false;
  if (!allowRunErrors && runErrorsOf(results).length > 0) return false;
  if (!allowUnscored && !results.some(isScored)) return false;
  if (gates.length > 0) return true;
  const failed = findings(results, 'failed').filter(({ evaluator }) => !allowRunErrors || evaluator !== endEvaluator);
  return failed.length === 0 && (allowUnscored || (unverified.length === 0 && unasked.length === 0));
}

interface RunError {
  readonly label: string;
  /** Class and message; empty when the spans carry neither. */
  readonly text: string;
  /** True when a verdict of `run_error` lists it. */
  readonly isListed: boolean;
}

/** Runs that ended in an error. A sub-agent is a part of its agent's run, which may have gone on. */
export function runErrorsOf(results: readonly EvalResult[]): readonly RunError[] {
  return results
    .filter(({ item: { run } }) => run.trace.status === 'error' && run.parent === undefined)
    .map(({ item: { label, run }, verdicts }) => ({
      label,
      text: runErrorText(run.trace),
      isListed: verdicts.some(({ evaluator, verdict }) => evaluator === endEvaluator && classOf(verdict) === 'failed'),
    }));
}

export function runErrorLine({ label, text }: RunError): string {
  return text === '' ? label : `${label}: ${text}`;
}

export function findings(results: readonly EvalResult[], which: VerdictClass): readonly Finding[] {
  return results.flatMap(({ item, verdicts }) =>
    verdicts.filter(({ verdict }) => classOf(verdict) === which).map((one) => ({ ...one, label: item.label })),
  );
}

/** Omits counts of 0, except the number of runs. */
export function countsText({ runs, results, sampledOut, notBegun, missing }: EvalOutcome): string {
  const scored = results.filter(isScored).length;
  const failed = runErrorsOf(results).length;
  const paused = results.filter(({ item: { run } }) => run.trace.status === 'paused' && run.parent === undefined).length;
  const parts = [`${scored} of ${runs} ${runs === 1 ? 'run' : 'runs'} scored`];
  if (failed > 0) parts.push(`${failed} ended in an error`);
  if (paused > 0) parts.push(`${paused} paused`);
  if (sampledOut > 0) parts.push(`${sampledOut} sampled out`);
  if (notBegun > 0) parts.push(`${notBegun} not begun after the first failure`);
  if (missing.length > 0) parts.push(`${missing.length} ${missing.length === 1 ? 'example has' : 'examples have'} no run`);
  return parts.join(', ');
}

export function gateText({ name, share, reached, held }: GateResult): string {
  return `${held ? 'held' : 'not held'}: ${name} ${reached === undefined ? 'has nothing that passed or failed' : `passed ${percent(reached)}`}, at least ${percent(share)} wanted`;
}

export function switchedOnText({ name, parts, judge }: SwitchedOnEvaluator): string {
  return `${name} (${parts.map((part) => `expect.${part}`).join(', ')}${judge === undefined ? '' : `, judge ${judge}`})`;
}

export function unverifiedText({ label, part, why }: Unverified): string {
  return `${label}: expect.${part} has no score: ${why.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`;
}

/** Why nothing was scored, and other missing scores. */
export function warningsOf({ nothingScored, warnings = [] }: EvalReport): readonly string[] {
  return [...(nothingScored === undefined ? [] : [nothingScored]), ...warnings];
}

/** A session with its worst turn by evaluator. */
interface SessionResult {
  readonly id: string;
  /** Runs by start; without times in the order of the inputs. */
  readonly turns: readonly EvalResult[];
  readonly worst: readonly WorstTurn[];
}

/** Sessions of several runs. */
export function sessionsOf(results: readonly EvalResult[]): readonly SessionResult[] {
  const known = results.filter(({ session }) => session !== undefined && session !== '');
  return [...Map.groupBy(known, ({ session }) => session ?? '')]
    .filter(([, runs]) => runs.length > 1)
    .map(([id, runs]) => {
      const turns = runs.toSorted((one, other) => Number(one.item.run.startUnixNano - other.item.run.startUnixNano));
      const scores = turns.map(({ verdicts }) =>
        verdicts.map(({ name, verdict }) => ({ name, score: verdict.kind === 'scored' ? verdict.score : undefined })),
      );
      return { id, turns, worst: worstTurns(scores) };
    });
}

const findingsMax = 50;
const labelChars = 80;
/** The name of a run or an example: an agent's name of 70 characters fits beside the ids of its trace and span. */
const nameChars = 120;
const textChars = 300;
const warningChars = 1_000;
/** Runs that --verbose lists. */
const rowsVerbose = 1_000;

export const tallyHeads = ['evaluator', 'passed', 'failed', 'raw', 'skipped', 'no judge', 'mean score'] as const;

/** The cells under these heads. */
export function tallyCells(one: EvaluatorTally): readonly string[] {
  const scored = scoredCount(one);
  const counts = [one.passed, one.failed, one.raw, one.skipped, one.errors].map(String);
  return [one.name, ...counts, scored === 0 ? '–' : (one.scoreSum / scored).toFixed(3)];
}

export function tableText(report: EvalReport): string {
  const { outcome, tallies, gates, tasks, passed, switchedOn = [], unverified = [], verbose = false } = report;
  const unlisted = runErrorsOf(outcome.results).filter(({ isListed }) => !isListed);
  return [
    countsText(outcome),
    '',
    ...aligned([tallyHeads, ...tallies.map(tallyCells)]),
    ...section('Switched on by expectations', switchedOn, (one) => oneLine(switchedOnText(one), textChars)),
    ...textTable(taskHeads, severalRuns(tasks), (one) => taskCells(one).map((text) => oneName(text, nameChars)), { most: findingsMax }),
    ...bySession(outcome.results, verbose),
    ...byRun(
      outcome.results.filter((result) => verbose || isFailing(result, unverified)),
      verbose,
    ),
    ...section('Runs that ended in an error', unlisted, (one) => oneLine(runErrorLine(one), textChars), findingsMax),
    ...section('Failed', findings(outcome.results, 'failed'), findingLines, findingsMax),
    ...section('Without a usable judge', findings(outcome.results, 'errors'), findingLines, findingsMax),
    ...section('Expectations without a score', unverified, (one) => oneLine(unverifiedText(one), textChars), findingsMax),
    ...section('Examples without a run', outcome.missing, (id) => oneName(id, nameChars), findingsMax),
    ...section('Gates', gates, gateText),
    ...warned(warningsOf(report)),
    '',
    passed ? 'PASSED' : 'FAILED',
  ].join('\n');
}

function warned(warnings: readonly string[]): readonly string[] {
  return warnings.length === 0 ? [] : ['', ...warnings.map((text) => `⚠ ${oneLine(text, warningChars)}`)];
}

/** One row for each run with its failed verdicts, or with all verdicts when `verbose`. */
function byRun(results: readonly EvalResult[], verbose: boolean): readonly string[] {
  return textTable(
    ['run', 'agent', 'verdicts'],
    results,
    ({ item, verdicts }) => [
      oneName(item.label, nameChars),
      oneLine(item.run.trace.agent ?? '–', labelChars),
      verdictCells(verdicts, verbose).join(', '),
    ],
    { most: verbose ? rowsVerbose : findingsMax, others: 'left' },
  );
}

/** One row for each session and evaluator whose worst turn failed, or for all with a score when `verbose`. */
function bySession(results: readonly EvalResult[], verbose: boolean): readonly string[] {
  const rows = sessionsOf(results).flatMap(({ id, turns, worst }) =>
    worst.flatMap(({ name, worst: at, score }) => {
      const turn = at === undefined ? undefined : turns[at];
      const isFailed = turn?.verdicts.some((one) => one.name === name && classOf(one.verdict) === 'failed');
      if (at === undefined || turn === undefined || score === undefined || !(verbose || isFailed === true)) return [];
      return [[id, name, `${at + 1} of ${turns.length}`, score.toFixed(3), turn.item.label]];
    }),
  );
  const heads = ['session', 'evaluator', 'worst turn', 'score', 'run'];
  const most = verbose ? rowsVerbose : findingsMax;
  return textTable(heads, rows, (cells) => cells.map((text) => oneName(text, nameChars)), { most, others: 'left' });
}

const marks: { readonly [which in VerdictClass]: string } = { failed: '✗', errors: '⚠', passed: '✓', raw: '·', skipped: '–' };

/** Worst verdicts first. */
export function verdictCells(verdicts: readonly NamedVerdict[], verbose: boolean): readonly string[] {
  return (Object.keys(marks) as readonly VerdictClass[]).flatMap((which) =>
    verdicts
      .filter(({ verdict }) => classOf(verdict) === which && (verbose || which === 'failed' || which === 'errors'))
      .map(
        ({ name, verdict }) =>
          `${marks[which]} ${name}${verdict.kind === 'scored' ? ` ${verdict.score.toFixed(3)}` : ` (${oneLine(verdict.kind === 'skipped' ? verdict.reason : verdict.error, labelChars)})`}`,
      ),
  );
}

function findingLines({ label, name, verdict }: Finding): readonly string[] {
  const word =
    verdict.kind === 'scored'
      ? ` ${verdict.score.toFixed(3)}`
      : verdict.kind === 'failed'
        ? ` (${oneLine(verdict.error, labelChars)})`
        : '';
  return [`${oneName(label, nameChars)}  ${name}${word}`, `  ${oneLine(verdict.explanation, textChars)}`];
}

/** Why runs and evaluators have no score. */
export interface Unscored {
  /** Runs with a score. */
  readonly scoredRuns: number;
  /** One sentence; `undefined` when something was scored. */
  readonly nothing: string | undefined;
  /** Some run lacks what an evaluator needs. */
  readonly isLacking: boolean;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

interface UnscoredWith {
  readonly tallies: readonly EvaluatorTally[];
  readonly plan: readonly PlannedEvaluator[];
  readonly judges: readonly Pick<JudgeConfig, 'name' | 'baseUrl' | 'apiKey'>[];
  /** The code of the last failed connection, by the name of the judge. */
  readonly connectionCodes: ReadonlyMap<string, string>;
}

const reasonsMax = 4;
const labelsMax = 5;

export function unscoredOf(outcome: EvalOutcome, options: UnscoredWith): Unscored {
  const { results } = outcome;
  const without = results.filter((result) => !isScored(result));
  const scoredRuns = results.length - without.length;
  const reasons = (own: readonly EvalResult[], name?: string): string => reasonsOf(own, options, name);
  const nothing =
    scoredRuns > 0
      ? undefined
      : `0 of ${runsText(outcome.runs)} scored: ${options.plan.length === 0 && results.every(({ verdicts }) => verdicts.length === 0) ? 'no evaluator is configured' : reasons(results)}.`;
  const idle = options.tallies.filter((tally) => scoredCount(tally) === 0);
  const ruleOnly = results.flatMap(({ verdicts }) =>
    verdicts.filter(({ verdict }) => verdict.kind === 'scored' && verdict.details['judge_error'] === true),
  );
  return {
    scoredRuns,
    nothing,
    isLacking: results.some(({ verdicts }) => verdicts.some(({ verdict }) => verdict.kind === 'skipped')),
    warnings: [
      ...(nothing === undefined
        ? idle.map(({ name }) => `${name} scored 0 of ${runsText(results.length)}: ${reasons(results, name)}.`)
        : []),
      ...(nothing === undefined && without.length > 0
        ? [
            `${runsText(without.length)} ${without.length === 1 ? 'has' : 'have'} no score: ${without
              .slice(0, labelsMax)
              .map((result) => `${result.item.label} (${reasons([result])})`)
              .join('; ')}${without.length > labelsMax ? `; and ${without.length - labelsMax} more` : ''}.`,
          ]
        : []),
      ...[...Map.groupBy(ruleOnly, ({ name }) => name)].map(
        ([name, own]) => `${name} has only the score of its rules on ${runsText(own.length)}: its judge gave no usable answer.`,
      ),
    ],
  };
}

export function isScored({ verdicts }: EvalResult): boolean {
  return verdicts.some(({ evaluator, verdict }) => isCheck({ evaluator, word: verdictWord(verdict) }));
}

function runsText(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}

/** The reasons by frequency, each with its evaluators. */
function reasonsOf(results: readonly EvalResult[], options: UnscoredWith, only: string | undefined): string {
  const groups = new Map<string, { readonly names: Set<string>; count: number }>();
  for (const { verdicts } of results) {
    for (const { name, verdict } of verdicts) {
      if ((only !== undefined && name !== only) || verdict.kind === 'scored') continue;
      const why = reasonOf(name, verdict, options);
      const group = groups.get(why) ?? { names: new Set<string>(), count: 0 };
      groups.set(why, group);
      group.names.add(name);
      group.count++;
    }
  }
  if (groups.size === 0) return only === undefined ? 'no evaluator applies (`when`)' : 'its condition (`when`) matches none';
  const ranked = [...groups].sort(([, a], [, b]) => b.count - a.count);
  const texts = ranked.slice(0, reasonsMax).map(([why, { names, count }]) => {
    const who =
      only === undefined && !why.startsWith('judge ')
        ? `${[...names].slice(0, reasonsMax).join(', ')}${names.size > reasonsMax ? ', …' : ''}: `
        : '';
    return `${who}${only !== undefined && why.startsWith('skipped') ? `${count} ` : ''}${why}`;
  });
  return `${texts.join('; ')}${ranked.length > reasonsMax ? `; and ${ranked.length - reasonsMax} other reasons` : ''}`;
}

function reasonOf(name: string, verdict: Exclude<Verdict, { readonly kind: 'scored' }>, options: UnscoredWith): string {
  if (verdict.kind === 'skipped') return `skipped (${verdict.reason})`;
  const asked = judgesAsked(options.plan.find(({ configured }) => configured.name === name));
  const own = options.judges.filter((judge) => asked.includes(judge.name));
  if (own.length === 0) return `failed (${verdict.error})`;
  const broken = own.find((judge) => options.connectionCodes.has(judge.name)) ?? own[0];
  const names = broken !== undefined && options.connectionCodes.has(broken.name) ? [broken] : own;
  return `judge ${names.map((judge) => `\`${judge.name}\` at ${originOf(judge.baseUrl)}`).join(', ')} ${judgeFault(verdict, broken, options)}`;
}

function judgesAsked(planned: PlannedEvaluator | undefined): readonly string[] {
  if (planned?.panel !== undefined) return judgesOf(planned.panel);
  return planned?.judge === undefined ? [] : [planned.judge];
}

/** Path, query and user of a URL may hold a key. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'an address that is not a URL';
}

const connectionWords: { readonly [code: string]: string } = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'ended the connection',
  ENOTFOUND: 'has an unknown host name',
  EAI_AGAIN: 'has a host name that cannot be resolved',
  ETIMEDOUT: 'did not accept the connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not accept the connection in time',
};

const statusWords: { readonly [status: string]: string } = {
  401: 'refused the key (status 401)',
  403: 'refused the key (status 403)',
  404: 'has no such path or model (status 404)',
};

/** The fault of a judge, as the predicate of a sentence. */
function judgeFault(
  { error, explanation }: Extract<Verdict, { readonly kind: 'failed' }>,
  judge: Pick<JudgeConfig, 'name' | 'apiKey'> | undefined,
  { connectionCodes }: UnscoredWith,
): string {
  const code = connectionCodes.get(judge?.name ?? '');
  const [, status = ''] = /^judge_unavailable: status (\d{3})$/.exec(error) ?? [];
  if (status === '401' && judge?.apiKey === '') return 'needs a key (status 401): set api_key';
  if (status !== '') return statusWords[status] ?? `answered with status ${status}`;
  const isConnection = /^(?:judge_unavailable: no connection|timed_out$|judge_down$)/.test(error);
  if (isConnection && code !== undefined) return connectionWords[code] ?? `gave no connection (${code})`;
  if (error.startsWith('judge_unavailable: ')) return `gave ${error.slice('judge_unavailable: '.length)}`;
  if (error === 'timed_out') return `gave no verdict in time: ${explanation}`.replace(/\.$/, '');
  if (error === 'over_budget') return 'has spent its budget';
  return `gave no usable answer (${error})`;
}

/** `true` for a run that ended in an error, and for one with a failed verdict, an evaluation error, or an expectation without a score. */
export function isFailing({ item, verdicts }: EvalResult, unchecked: readonly Unverified[]): boolean {
  return (
    (item.run.trace.status === 'error' && item.run.parent === undefined) ||
    verdicts.some(({ verdict }) => classOf(verdict) === 'failed' || verdict.kind === 'failed') ||
    unchecked.some(({ label }) => label === item.label)
  );
}
