/** The configuration of alerts. */
import { alertCondition, type AlertCondition, evaluatorOf } from '../../analytics/alerts/condition.ts';
import type { AlertRule } from '../../analytics/alerts/finding.ts';
import { didYouMean, type KnownEvaluators, meantEvaluator } from '../../model/did-you-mean.ts';
import type { Tenant } from '../../model/ids.ts';
import { type JsonObject, type JsonValue, member } from '../../model/json.ts';
import { quantityOf } from '../../model/quantities.ts';
import { asObject, finding, type Finding, listAt, type Path } from '../diagnostic.ts';
import { alertDefaults } from '../sections/alerts.ts';
import { exporterName } from './exporter-entry.ts';

interface AlertContext {
  readonly evaluators: KnownEvaluators;
  /** The entries of `export`. */
  readonly exporters: readonly JsonValue[];
}

export function alertFindings(list: readonly JsonValue[], context: AlertContext): readonly Finding[] {
  return list.flatMap((written, at) => entryFindings(asObject(written), ['alerts', at], context));
}

function entryFindings(entry: JsonObject, path: Path, context: AlertContext): readonly Finding[] {
  const when = member(entry, 'when');
  if (typeof when !== 'string') return receiverFindings(entry, path, context);
  const parsed = alertCondition(when);
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
function keyFindings(entry: JsonObject, { kind }: AlertCondition, path: Path): readonly Finding[] {
  const isShare = kind === 'rate' || kind === 'status' || kind === 'burn_rate';
  const surplus = (key: string, isRead: boolean, words: string): readonly Finding[] =>
    member(entry, key) === undefined || isRead
      ? []
      : [finding([...path, key], 'key', `has no effect on this condition`, `Leave it out: only ${words} reads it.`)];
  return [
    ...surplus('by', kind === 'worse_than_previous', 'worse than previous version'),
    ...surplus('estimate', isShare, 'a rate, a burn rate, run errors or paused runs'),
    ...surplus('confidence', isShare || kind === 'worse_than_previous', 'a share of runs or a comparison of versions'),
    ...surplus('objective', kind === 'burn_rate', 'burn rate'),
    ...(kind === 'burn_rate' && member(entry, 'objective') === undefined
      ? [finding(path, 'value', 'lacks objective', 'Add the share of runs that are to pass, such as objective: 0.99.')]
      : []),
  ];
}

function receiverFindings(entry: JsonObject, path: Path, { exporters }: AlertContext): readonly Finding[] {
  const named = exporters.map((one) => ({ name: exporterName(asObject(one)), isWebhook: member(asObject(one), 'to') === 'webhook' }));
  const webhooks = named.flatMap(({ name, isWebhook }) => (isWebhook ? [name] : []));
  return listAt(entry, 'to').flatMap((name, at): readonly Finding[] => {
    if (typeof name !== 'string' || webhooks.includes(name)) return [];
    const problem = named.some((one) => one.name === name) ? `the exporter ${name} is no webhook` : `no exporter is named ${name}`;
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
export function alertRules(list: readonly JsonValue[]): readonly AlertRule[] {
  return list.flatMap((written) => {
    const entry = asObject(written);
    const [when, agent, tenant] = [textAt(entry, 'when'), member(entry, 'agent'), member(entry, 'tenant')];
    const parsed = alertCondition(when);
    if (parsed.kind === 'fault') return [];
    return [
      {
        name: textAt(entry, 'name'),
        when,
        condition: parsed.condition,
        ...(typeof agent === 'string' ? { agent } : {}),
        ...(typeof tenant === 'string' ? { tenant: tenant as Tenant } : {}),
        by: Number(member(entry, 'by') ?? alertDefaults.by),
        confidence: Number(member(entry, 'confidence') ?? alertDefaults.confidence),
        estimate: textAt(entry, 'estimate') === 'point' ? 'point' : alertDefaults.estimate,
        objective: member(entry, 'objective') === undefined ? undefined : Number(member(entry, 'objective')),
        runsMin: Number(member(entry, 'min_runs') ?? alertDefaults.min_runs),
        forMs: quantityOf('duration', member(entry, 'for') ?? alertDefaults.for) ?? 0,
        clearMs: quantityOf('duration', member(entry, 'clear') ?? alertDefaults.clear) ?? 0,
        ...repeatOf(entry),
        to: listAt(entry, 'to').filter((name) => typeof name === 'string'),
      },
    ];
  });
}

function repeatOf(entry: JsonObject): { readonly repeatMs?: number } {
  const repeat = member(entry, 'repeat');
  const repeatMs = repeat === undefined || repeat === null ? undefined : quantityOf('duration', repeat);
  return repeatMs === undefined ? {} : { repeatMs };
}

function textAt(entry: JsonObject, key: string): string {
  const value = member(entry, key);
  return typeof value === 'string' ? value : '';
}
