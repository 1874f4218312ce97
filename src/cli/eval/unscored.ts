/** Why runs and evaluators have no score, in sentences: nothing scored is never a pass. */
import type { JudgeConfig } from '../../config/config.ts';
import { classOf, scoredCount } from '../../library/tally.ts';
import type { Verdict } from '../../model/verdict.ts';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';
import { judgesOf } from '../../pipeline/jury/jury-panel.ts';
import type { Unverified } from './expectations.ts';
import type { EvaluatorTally } from './gates.ts';
import type { EvalOutcome, EvalResult } from './item.ts';

export interface Unscored {
  /** Runs with a score. */
  readonly scoredRuns: number;
  /** One sentence; undefined: something was scored. */
  readonly nothing: string | undefined;
  /** Some run lacks what an evaluator needs. */
  readonly isLacking: boolean;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

export interface UnscoredWith {
  readonly tallies: readonly EvaluatorTally[];
  readonly plan: readonly PlannedEvaluator[];
  readonly judges: readonly Pick<JudgeConfig, 'name' | 'baseUrl' | 'apiKey'>[];
  /** By the name of a judge: the code with which its last connection failed. */
  readonly connectionCodes: ReadonlyMap<string, string>;
}

const reasonsShown = 4;
const labelsShown = 5;

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
              .slice(0, labelsShown)
              .map((result) => `${result.item.label} (${reasons([result])})`)
              .join('; ')}${without.length > labelsShown ? `; and ${without.length - labelsShown} more` : ''}.`,
          ]
        : []),
      ...[...Map.groupBy(ruleOnly, ({ name }) => name)].map(
        ([name, own]) => `${name} has the score of its rules alone on ${runsText(own.length)}: its judge gave no usable answer.`,
      ),
    ],
  };
}

function isScored({ verdicts }: EvalResult): boolean {
  return verdicts.some(({ verdict }) => verdict.kind === 'scored');
}

function runsText(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`;
}

/** The commonest reasons first, each once, with the evaluators that gave it. */
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
  if (groups.size === 0) return only === undefined ? 'no evaluator is for it (`when`)' : 'its condition (`when`) fits none';
  const ranked = [...groups].sort(([, a], [, b]) => b.count - a.count);
  const texts = ranked.slice(0, reasonsShown).map(([why, { names, count }]) => {
    const who =
      only === undefined && !why.startsWith('judge ')
        ? `${[...names].slice(0, reasonsShown).join(', ')}${names.size > reasonsShown ? ', …' : ''}: `
        : '';
    return `${who}${only !== undefined && why.startsWith('skipped') ? `${count} ` : ''}${why}`;
  });
  return `${texts.join('; ')}${ranked.length > reasonsShown ? `; and ${ranked.length - reasonsShown} other reasons` : ''}`;
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

/** Without path, query and user: any of them may hold a key. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'an address that is no URL';
}

const connectionWords: { readonly [code: string]: string } = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'ended the connection',
  ENOTFOUND: 'has a host name that is not known',
  EAI_AGAIN: 'has a host name that could not be looked up',
  ETIMEDOUT: 'did not take the connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not take the connection in time',
};

const statusWords: { readonly [status: string]: string } = {
  401: 'refused the key (status 401)',
  403: 'refused the key (status 403)',
  404: 'has no such path or model (status 404)',
};

/** What is wrong with a judge, as the predicate of a sentence. */
function judgeFault(
  { error, explanation }: Extract<Verdict, { readonly kind: 'failed' }>,
  judge: Pick<JudgeConfig, 'name' | 'apiKey'> | undefined,
  { connectionCodes }: UnscoredWith,
): string {
  const code = connectionCodes.get(judge?.name ?? '');
  const [, status = ''] = /^judge_unavailable: status (\d{3})$/.exec(error) ?? [];
  if (status === '401' && judge?.apiKey === '') return 'wants a key (status 401): set api_key';
  if (status !== '') return statusWords[status] ?? `answered with status ${status}`;
  const isConnection = /^(?:judge_unavailable: no connection|timed_out$|judge_down$)/.test(error);
  if (isConnection && code !== undefined) return connectionWords[code] ?? `gave no connection (${code})`;
  if (error.startsWith('judge_unavailable: ')) return `gave ${error.slice('judge_unavailable: '.length)}`;
  if (error === 'timed_out') return `gave no verdict in time: ${explanation}`.replace(/\.$/, '');
  if (error === 'over_budget') return 'has spent its budget';
  return `gave no usable answer (${error})`;
}

/** Runs that a reader wants to see: one that did not pass, or that a judge left without a verdict. */
export function isFailing({ item, verdicts }: EvalResult, unchecked: readonly Unverified[]): boolean {
  return (
    verdicts.some(({ verdict }) => classOf(verdict) === 'failed' || verdict.kind === 'failed') ||
    unchecked.some(({ label }) => label === item.label)
  );
}
