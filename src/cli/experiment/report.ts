/** The report on one experiment: counts, rates with intervals, failed examples, gates. */
import { type Gate, gateText } from '../eval/report.ts';
import { cell, markdownDetails, markdownTable } from '../../report/markdown.ts';
import { intervalText, measureText } from '../../analytics/reports/measure-text.ts';
import { aligned, moreLines, percent, section, textTable } from '../../report/text.ts';
import { oneLine, oneName } from '../../model/one-line.ts';
import { completedName, type EvaluatorSummary, type ExperimentSummary, experimentSummary } from '../../analytics/experiment-summary.ts';
import { experimentFileJson } from '../../analytics/experiment-json.ts';
import type { AgentFacts, Experiment, ExperimentResult } from '../../model/experiment.ts';
import { jsonText } from '../../model/json.ts';
import { endEvaluator, isCheck } from '../../model/verdict.ts';

export interface Report {
  readonly experiment: Experiment;
  readonly results: readonly ExperimentResult[];
  readonly summary: ExperimentSummary;
  readonly gates: readonly GateOutcome[];
  /** Runs that the experiment has when it is done. */
  readonly planned: number;
  readonly passed: boolean;
  /** Why it did not pass, beside gates; in sentences. */
  readonly problems: readonly string[];
}

interface GateOutcome extends Gate {
  readonly reached: number | undefined;
  readonly held: boolean;
}

interface ReportOptions {
  readonly experiment: Experiment;
  readonly results: readonly ExperimentResult[];
  readonly gates: readonly Gate[];
  readonly planned: number;
  /** True when runs that ended in an error are allowed. */
  readonly allowRunErrors?: boolean;
}

/** Passes when each gate holds, something was scored, and each run came to its end, unless a gate sets how many must. */
export function reportOf({ experiment, results, gates, planned, allowRunErrors = false }: ReportOptions): Report {
  const summary = experimentSummary(experiment, results);
  const held = gates.map((gate): GateOutcome => {
    const own = summary.evaluators.find(({ name }) => name === gate.name);
    const counted = own === undefined ? 0 : own.passed + own.failed;
    const reached = own === undefined || counted === 0 ? undefined : own.passed / counted;
    return { ...gate, reached, held: reached !== undefined && reached >= gate.share };
  });
  const scored = results.some(({ verdicts }) => verdicts.some(({ evaluator, verdict: word }) => isCheck({ evaluator, word })));
  const problems = [
    ...(scored ? [] : ['Nothing was scored.']),
    ...(gates.some(({ name }) => name === completedName) ? [] : notCompleted(results, allowRunErrors)),
  ];
  return { experiment, results, summary, gates: held, planned, problems, passed: problems.length === 0 && held.every((gate) => gate.held) };
}

function notCompleted(results: readonly ExperimentResult[], allowRunErrors: boolean): readonly string[] {
  const kinds = results.flatMap(({ error }) => error?.kind ?? []).filter((kind) => !(allowRunErrors && kind === 'run_error'));
  if (kinds.length === 0) return [];
  const allow = kinds.includes('run_error') ? ' --allow-run-errors lets runs pass that ended in an error.' : '';
  return [
    `${kinds.length} of ${results.length} runs did not come to their end. --fail-under ${completedName}=0.95 lets some of them fail.${allow}`,
  ];
}

const namedMax = 5;

/** Examples with a failed run, for reports that pass without them; empty when there are none. */
function failedExamples(results: readonly ExperimentResult[]): string {
  const ids = [...new Set(results.filter(({ status }) => status === 'failed').map(({ exampleId }) => exampleId))];
  if (ids.length === 0) return '';
  const more = ids.length > namedMax ? `, and ${ids.length - namedMax} more` : '';
  return `${ids.length} ${ids.length === 1 ? 'example' : 'examples'} failed: ${ids.slice(0, namedMax).join(', ')}${more}`;
}

export const reportFormats: { readonly [name: string]: (report: Report) => string } = {
  table: reportTable,
  markdown: reportMarkdown,
  json: (report) => jsonText(experimentFileJson(report, report.summary)),
};

const failuresMax = 50;
const labelChars = 60;
const nameChars = 120;
const textChars = 300;

function reportTable(report: Report): string {
  const { experiment, results, summary, gates, problems, passed } = report;
  const failed = failedExamples(results);
  const failures = failuresOf(results);
  return [
    ...headLines(report).map((line) => oneLine(line, textChars)),
    '',
    ...aligned([evaluatorHeads, ...summary.evaluators.map((one) => evaluatorCells(one).map((text) => oneLine(text, labelChars)))]),
    ...repeatLines(summary.evaluators),
    ...section('Failed', failures.slice(0, failuresMax), ({ label, name, text }) => [
      `${oneName(label, nameChars)}  ${oneLine(name, labelChars)}`,
      `  ${oneLine(text, textChars)}`,
    ]),
    ...moreLines(failures.length, failuresMax),
    ...section('Gates', gates, gateText),
    ...(problems.length === 0 ? [] : ['', ...problems.map((text) => `⚠ ${text}`)]),
    '',
    oneLine([passed ? 'PASSED' : 'FAILED', ...(passed && failed !== '' ? [`though ${failed}`] : [])].join(', '), textChars) +
      `  ${experiment.id}`,
  ].join('\n');
}

function reportMarkdown(report: Report): string {
  const { experiment, results, summary, gates, problems, passed } = report;
  const failed = failedExamples(results);
  const failures = failuresOf(results);
  return [
    `### ${passed ? (failed === '' ? '✅' : '⚠') : '❌'} Experiment ${cell(experiment.name)}${failed === '' ? '' : `: ${cell(failed)}`}`,
    headLines(report)
      .map((line) => cell(line))
      .join('<br>\n'),
    ...problems.map((text) => `⚠ ${cell(text)}`),
    ...markdownTable({ heads: evaluatorHeads, rows: summary.evaluators, write: evaluatorCells, numbers: (column) => column > 0 }),
    ...(gates.length === 0 ? [] : [gates.map((gate) => `- ${gate.held ? '✅' : '❌'} ${cell(gateText(gate))}`).join('\n')]),
    ...markdownDetails(`${failures.length} failed`, {
      heads: ['example', 'evaluator', 'why'],
      rows: failures,
      write: ({ label, name, text }) => [label, name, text],
      most: failuresMax,
    }),
  ].join('\n\n');
}

function headLines({ experiment, results, summary, planned }: Report): readonly string[] {
  const { name, id, dataset, provenance, repeats } = experiment;
  const { passed, failed, error, skipped } = summary.statuses;
  const counts = [
    [passed, 'passed'],
    [failed, 'failed'],
    [error, 'without a usable judge'],
    [skipped, 'without a score'],
    [planned - results.length, 'not run'],
  ] as const;
  const data =
    dataset === undefined
      ? ''
      : ` on ${dataset.name}${dataset.version === undefined ? '' : `@${dataset.version}`} (${dataset.examples} ${dataset.examples === 1 ? 'example' : 'examples'}${repeats === 1 ? '' : ` × ${repeats}`})`;
  const usage = [
    ...(summary.tokens === undefined ? [] : [`${summary.tokens.toLocaleString('en-US')} tokens`]),
    ...(summary.cost === undefined
      ? []
      : [`$${summary.cost.toFixed(4)}${summary.withoutCost === 0 ? '' : ` (${summary.withoutCost} runs without a cost)`}`]),
  ];
  return [
    `${name}${data}: ${counts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ') || 'no result'}${usage.length === 0 ? '' : `; ${usage.join(', ')}`}`,
    [`id ${id}`, commitText(provenance), ...agentTexts(results.map(({ agent }) => agent))].filter((text) => text !== '').join(', '),
  ];
}

const shortCommit = 10;

function commitText({ commit, branch, isDirty }: Experiment['provenance']): string {
  if (commit === undefined) return '';
  return `commit ${commit.slice(0, shortCommit)}${isDirty === true ? ' with changes' : ''}${branch === undefined ? '' : ` on ${branch}`}`;
}

const valuesMax = 3;

/** The distinct values, because mixed values spoil an experiment. */
function agentTexts(facts: readonly AgentFacts[]): readonly string[] {
  const values = (key: keyof AgentFacts): string => {
    const all = [...new Set(facts.flatMap((one) => one[key] ?? []))];
    return `${all.slice(0, valuesMax).join(' and ')}${all.length > valuesMax ? ' and others' : ''}`;
  };
  const named = [
    ['agent', values('agent')],
    ['version', values('version')],
    ['model', values('model')],
    ['prompt', values('promptHash')],
    ['tools', values('toolsHash')],
  ] as const;
  return named.flatMap(([word, text]) => (text === '' ? [] : [`${word} ${text}`]));
}

const evaluatorHeads = ['evaluator', 'passed', 'failed', 'raw', 'skipped', 'no judge', 'rate or mean', '95 % interval'] as const;

/** The cells under these heads. */
function evaluatorCells(one: EvaluatorSummary): readonly string[] {
  return [
    one.name,
    String(one.passed),
    String(one.failed),
    String(one.raw),
    String(one.skipped),
    String(one.errors),
    pointText(one),
    intervalText(one.estimate, one.measure),
  ];
}

function pointText({ estimate, measure, passed, failed }: EvaluatorSummary): string {
  if (estimate.kind === 'estimated') return measureText(estimate.point, measure);
  return passed + failed === 0 ? '–' : percent(passed / (passed + failed));
}

function repeatLines(evaluators: readonly EvaluatorSummary[]): readonly string[] {
  const rows = evaluators.flatMap(({ name, repeats }) =>
    repeats.map(({ k, examples, passAtK, passHatK }) => [name, String(k), String(examples), percent(passAtK), percent(passHatK)]),
  );
  return textTable(['evaluator', 'k', 'examples', 'pass@k', 'pass^k'], rows, (cells) => cells);
}

interface Failure {
  readonly label: string;
  readonly name: string;
  readonly text: string;
}

function failuresOf(results: readonly ExperimentResult[]): readonly Failure[] {
  return results.flatMap(({ exampleId, repeat, error, verdicts }) => {
    const label = repeat === 1 ? exampleId : `${exampleId} (run ${repeat})`;
    return [
      ...(error === undefined ? [] : [{ label, name: error.kind, text: error.message }]),
      ...verdicts.flatMap(({ name, evaluator, verdict, explanation, reason }) =>
        verdict === 'fail' && !(evaluator === endEvaluator && error?.kind === 'run_error')
          ? [{ label, name, text: explanation }]
          : verdict === 'error'
            ? [{ label, name, text: `No usable judge (${reason ?? 'unknown'}). ${explanation}` }]
            : [],
      ),
    ];
  });
}
