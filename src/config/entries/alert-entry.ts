/** The configuration of alerts. */
import { alertCondition, type AlertCondition, evaluatorOf } from '../../analytics/alerts/condition.ts';
import type { AlertRule } from '../../analytics/alerts/finding.ts';
import { didYouMean, type KnownEvaluators, meantEvaluator } from '../../model/did-you-mean.ts';
import type { Tenant } from '../../model/ids.ts';
import { finding, type Finding, type Path } from '../diagnostic.ts';
import type { Draft } from '../field.ts';
import { alertDefaults } from '../sections/alerts.ts';
import type { WrittenExporter } from '../sections/export.ts';
import type { Written } from '../sections/index.ts';
import { exporterName } from './exporter-entry.ts';

type Alert = Draft<Written['alerts'][number]>;

interface AlertContext {
  readonly evaluators: KnownEvaluators;
  /** The entries of `export`. */
  readonly exporters: readonly Draft<WrittenExporter>[];
}

export function alertFindings(list: readonly Alert[], context: AlertContext): readonly Finding[] {
  return list.flatMap((entry, at) => entryFindings(entry, ['alerts', at], context));
}

function entryFindings(entry: Alert, path: Path, context: AlertContext): readonly Finding[] {
  if (entry.when === undefined) return receiverFindings(entry, path, context);
  const parsed = alertCondition(entry.when);
  return [
    ...(parsed.kind === 'fault'
      ? [finding([...path, 'when'], 'value', parsed.problem, parsed.todo)]
      : [...evaluatorFindings(parsed.condition, path, context), ...keyFindings(entry, parsed.condition, path)]),
    ...receiverFindings(entry, path, context),
  ];
}

function evaluatorFindings(condition: AlertCondition, path: Path, { evaluators }: AlertContext): readonly Finding[] {
  const name = evaluatorOf(condition);
  if (name === undefined || evaluators.on.includes(name)) return [];
  return [
    finding(
      [...path, 'when'],
      'value',
      `no evaluator is named ${name}`,
      meantEvaluator(
        name,
        evaluators,
        evaluators.on.length === 0 ? 'Add the evaluator first: there is none.' : `Write one of ${evaluators.on.join(', ')}.`,
      ),
    ),
  ];
}

/** Keys that only some conditions read. */
function keyFindings(entry: Alert, { kind }: AlertCondition, path: Path): readonly Finding[] {
  const isShare = kind === 'rate' || kind === 'status' || kind === 'burn_rate';
  const surplus = (key: 'by' | 'estimate' | 'confidence' | 'objective', isRead: boolean, words: string): readonly Finding[] =>
    entry[key] === undefined || isRead
      ? []
      : [finding([...path, key], 'key', `has no effect on this condition`, `Leave it out: only ${words} reads it.`)];
  return [
    ...surplus('by', kind === 'worse_than_previous', 'worse than previous version'),
    ...surplus('estimate', isShare, 'a rate, a burn rate, run errors or paused runs'),
    ...surplus('confidence', isShare || kind === 'worse_than_previous', 'a share of runs or a comparison of versions'),
    ...surplus('objective', kind === 'burn_rate', 'burn rate'),
    ...(kind === 'burn_rate' && entry.objective === undefined
      ? [finding(path, 'value', 'lacks objective', 'Add the share of runs that are to pass, such as objective: 0.99.')]
      : []),
  ];
}

/** `to` names webhooks. */
export function receiverFindings(
  { to = [] }: Pick<Alert, 'to'>,
  path: Path,
  { exporters }: Pick<AlertContext, 'exporters'>,
): readonly Finding[] {
  const webhooks = exporters.filter((one) => one.to === 'webhook').map(exporterName);
  return to.flatMap((name, at): readonly Finding[] => {
    if (name === undefined || webhooks.includes(name)) return [];
    const problem = exporters.some((one) => exporterName(one) === name)
      ? `the exporter ${name} is not a webhook`
      : `no exporter is named ${name}`;
    const todo = suggestion(name, webhooks, 'Add an entry to export with to: webhook and this name.');
    return [finding([...path, 'to', at], 'value', problem, todo)];
  });
}

function suggestion(name: string, known: readonly string[], none: string): string {
  if (known.length === 0) return none;
  const guess = didYouMean(name, known);
  return guess === undefined ? `Write one of ${known.join(', ')}.` : `Did you mean ${guess}?`;
}

/** Reads the rules of checked entries. */
export function alertRules(list: Written['alerts']): readonly AlertRule[] {
  return list.flatMap(({ minRuns, tenant, estimate, ...written }) => {
    const parsed = alertCondition(written.when);
    if (parsed.kind === 'fault') return [];
    return [
      {
        by: alertDefaults.by,
        confidence: alertDefaults.confidence,
        objective: undefined,
        ...written,
        condition: parsed.condition,
        estimate: estimate === 'point' ? estimate : alertDefaults.estimate,
        runsMin: minRuns,
        ...(tenant === undefined ? {} : { tenant: tenant as Tenant }),
      },
    ];
  });
}
