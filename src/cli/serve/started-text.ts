/** The lines of a start: where the service listens, where data lies, and for people on a terminal what else is on. */
import type { Config, EvaluatorConfig, JudgeConfig } from '../../config/config.ts';
import { oneLine } from '../inspect/one-line.ts';

const chars = 200;

/** Names what ends with the process, as the guide to operations does. */
export function dataText({ store, journal }: Config): string {
  const runs =
    store.address.scheme === 'memory'
      ? 'runs and verdicts in memory, gone when the process ends'
      : `${store.address.rest} (runs and verdicts)`;
  return `${runs}, ${journal.scheme === 'memory' ? 'what is open in memory' : `${journal.rest} (what is open)`}`;
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

/** A URL may hold a secret in its user, its path and its query. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'an address that is no URL';
}
